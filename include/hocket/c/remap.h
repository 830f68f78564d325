/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed arrays permuted within their own memory, for C; see hocket/remap.hpp. */
#ifndef HOCKET_C_REMAP_H
#define HOCKET_C_REMAP_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `axes` has one entry a dimension: dimension k of the result is dimension axes[k]. */

/* The layout that hocket_remap_inplace gives an array of this one; a new handle.
 * HOCKET_ERR_LAYOUT: there is none, or no way to it. */
int hocket_remap_layout(const hocket_layout* layout, const int64_t* axes, hocket_layout** remapped);
/* Elements that process `rank` must have room for meanwhile. */
int hocket_remap_room(const hocket_layout* layout, const int64_t* axes, int64_t rank,
                      int64_t* elements);
/* Permutes an array within its own memory; the handle is then the array that it has become.
 * Collective. `threads` of each process, 0: HOCKET_THREADS, else its cores. On every process, and
 * nothing has moved: HOCKET_ERR_LAYOUT as hocket_remap_layout; HOCKET_ERR_ERROR for memory that is
 * read-only, not dense, or has too little room. */
int hocket_remap_inplace(hocket_array* array, const int64_t* axes, int threads, double timeout);

/* Arrays with room for `room` bytes at least. hocket_array_empty makes room for most ways to remap
 * an array by itself; memory of the caller's has as much as is said here, from `data` on. */
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
