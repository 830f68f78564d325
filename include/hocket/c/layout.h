/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts for C; see hocket/layout.hpp. */
#ifndef HOCKET_C_LAYOUT_H
#define HOCKET_C_LAYOUT_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `shape` has `dimensions` extents; `dist` is HPF text, as "(BLOCK, CYCLIC(3), *)"; `procs` has
 * `arrangement` extents; `replicate` names the `copies` positions in procs that hold copies. A
 * list of no entries may be NULL. HOCKET_ERR_LAYOUT: malformed text, extents that do not fit. */
int hocket_layout_make(int64_t dimensions, const int64_t* shape, const char* dist,
                       int64_t arrangement, const int64_t* procs, int64_t copies,
                       const int64_t* replicate, hocket_layout** layout);
/* The layout whose text this is. */
int hocket_layout_parse(const char* text, hocket_layout** layout);
/* The same of a text that may leave out the shape: "(BLOCK, *) @ (4)". */
int hocket_layout_parse_with_shape(const char* text, int64_t dimensions, const int64_t* shape,
                                   hocket_layout** layout);
int hocket_layout_free(hocket_layout** layout);

int hocket_layout_text(const hocket_layout* layout, const char** text);
int hocket_layout_dist(const hocket_layout* layout, const char** dist);
int hocket_layout_dimensions(const hocket_layout* layout, int64_t* dimensions);
int hocket_layout_shape(const hocket_layout* layout, int64_t capacity, int64_t* values,
                        int64_t* count);
int hocket_layout_procs(const hocket_layout* layout, int64_t capacity, int64_t* values,
                        int64_t* count);
int hocket_layout_replicate(const hocket_layout* layout, int64_t capacity, int64_t* values,
                            int64_t* count);
int hocket_layout_size(const hocket_layout* layout, int64_t* processes);
int hocket_layout_elements(const hocket_layout* layout, int64_t* elements);

/* Extents, and number of elements, of process `rank`'s local array. */
int hocket_layout_local_shape(const hocket_layout* layout, int64_t rank, int64_t capacity,
                              int64_t* values, int64_t* count);
int hocket_layout_local_elements(const hocket_layout* layout, int64_t rank, int64_t* elements);
/* The global indices along `dimension` that process `rank` holds, increasing. */
int hocket_layout_global_indices(const hocket_layout* layout, int64_t rank, int64_t dimension,
                                 int64_t capacity, int64_t* values, int64_t* count);

/* `index` has one entry a dimension. Every process that holds the element; the lowest of them;
 * where the element lies in an owner's local array. */
int hocket_layout_owners(const hocket_layout* layout, const int64_t* index, int64_t capacity,
                         int64_t* values, int64_t* count);
int hocket_layout_owner(const hocket_layout* layout, const int64_t* index, int64_t* rank);
int hocket_layout_local_index(const hocket_layout* layout, const int64_t* index, int64_t capacity,
                              int64_t* values, int64_t* count);

/* Equal: same shape, size, and index sets of every process. Equal layouts have equal hashes. */
int hocket_layout_equal(const hocket_layout* a, const hocket_layout* b, bool* equal);
int hocket_layout_hash(const hocket_layout* layout, uint64_t* hash);

#ifdef __cplusplus
}
#endif

#endif
