/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays with a border, for C; see hocket/halo.hpp. */
#ifndef HOCKET_C_HALO_H
#define HOCKET_C_HALO_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the elements of `array` to new memory with a border of width[d] on both sides of
 * dimension d. `periodic`: one flag a dimension; NULL: no dimension. Local. HOCKET_ERR_LAYOUT:
 * negative widths, explicit segments, and a dimension with a border of which a process holds
 * several intervals. */
int hocket_halo_make(const hocket_array* array, const int64_t* width, const bool* periodic,
                     hocket_halo** halo);
int hocket_halo_free(hocket_halo** halo);
/* The array within the border: a new handle, which keeps the memory. */
int hocket_halo_array(const hocket_halo* halo, hocket_array** array);
int hocket_halo_width(const hocket_halo* halo, int64_t capacity, int64_t* values, int64_t* count);
/* Whether this process's border below and above its part of a dimension is the edge of the
 * array, which an exchange does not change; false if the dimension is periodic. */
int hocket_halo_edges(const hocket_halo* halo, int64_t dimension, bool* below, bool* above);
/* The local elements with their border: dense and row-major, of this shape. The extents of a
 * process without elements are 0. */
int hocket_halo_data(const hocket_halo* halo, void** data);
int hocket_halo_local_shape(const hocket_halo* halo, int64_t capacity, int64_t* values,
                            int64_t* count);
/* Fills the border from the owners of its elements. Collective. */
int hocket_halo_exchange(const hocket_halo* halo, double timeout);
/* Starts an exchange, for hocket_operation_wait or hocket_started_add. Until it completes, the
 * program must not touch the border, nor change elements within the widths of it. `later`: it
 * takes its position among the collective calls now, and begins at its first poll. See
 * hocket_flow_exchange, too. */
int hocket_halo_iexchange(const hocket_halo* halo, bool later, hocket_operation** operation);

#ifdef __cplusplus
}
#endif

#endif
