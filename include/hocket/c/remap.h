/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed arrays permuted within their own memory, for C; see hocket/remap.hpp. */
#ifndef HOCKET_C_REMAP_H
#define HOCKET_C_REMAP_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `axes` has one entry a dimension: dimension k of the result is dimension axes[k]. */

/* The layout that hocket_remap_inplace gives an array of this layout; a new handle.
 * HOCKET_ERR_LAYOUT: no remap exists. */
int hocket_remap_layout(const hocket_layout* layout, const int64_t* axes, hocket_layout** remapped);
/* The number of elements that the memory of process `rank` must hold for the remap. */
int hocket_remap_room(const hocket_layout* layout, const int64_t* axes, int64_t rank,
                      int64_t* elements);
/* Permutes an array within its own memory; the handle then names the permuted array. Collective.
 * `threads` of each process; 0: HOCKET_THREADS, else its cores. Errors come on every process,
 * before any element moves: HOCKET_ERR_LAYOUT as hocket_remap_layout; HOCKET_ERR_ERROR for
 * memory that is read-only, not dense, or too small. */
int hocket_remap_inplace(hocket_array* array, const int64_t* axes, int threads, double timeout);

/* Arrays with `room` bytes of memory at least. hocket_array_empty reserves enough for most
 * remaps; the caller's memory has `room` bytes from `data` on. */
int hocket_array_empty_with_room(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                                 MPI_Comm comm, int64_t room, hocket_array** array);
int hocket_array_wrap_with_room(void* data, int64_t room, const hocket_layout* layout,
                                const char* dtype, int64_t itemsize, MPI_Comm comm,
                                hocket_array** array);
int hocket_array_room(const hocket_array* array, int64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
