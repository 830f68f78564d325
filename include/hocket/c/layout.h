/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts for C; see hocket/layout.hpp. */
#ifndef HOCKET_C_LAYOUT_H
#define HOCKET_C_LAYOUT_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `shape` has `dimensions` extents; `dist` is HPF text: "(BLOCK, CYCLIC(3), *)"; `procs` has
 * `arrangement` extents; `replicate` has the `copies` positions in procs along which processes
 * hold copies. An empty list may be NULL. HOCKET_ERR_LAYOUT: malformed text, extents that do not
 * fit. */
int hocket_layout_make(int64_t dimensions, const int64_t* shape, const char* dist,
                       int64_t arrangement, const int64_t* procs, int64_t copies,
                       const int64_t* replicate, hocket_layout** layout);
/* The distribution of one dimension: a text, as "BLOCK"; or "GEN_BLOCK" or "INDIRECT" with
 * `count` values, the extents of the processes or the owners of the indices. */
typedef struct hocket_format {
    const char* text;
    int64_t count;
    const int64_t* values;
} hocket_format;
/* hocket_layout_make with a list of formats, one a dimension. */
int hocket_layout_make_formats(int64_t dimensions, const int64_t* shape,
                               const hocket_format* formats, int64_t arrangement,
                               const int64_t* procs, int64_t copies, const int64_t* replicate,
                               hocket_layout** layout);
/* The layout that the text describes. */
int hocket_layout_parse(const char* text, hocket_layout** layout);
/* Parses a text that may omit the shape: "(BLOCK, *) @ (4)". */
int hocket_layout_parse_with_shape(const char* text, int64_t dimensions, const int64_t* shape,
                                   hocket_layout** layout);
int hocket_layout_free(hocket_layout** layout);

/* An array aligned with a template: `align` is HPF text, as "A(i,j) WITH T(2*j+1, i, *)", with
 * indices from 0. */
int hocket_layout_aligned(int64_t dimensions, const int64_t* shape, const char* align,
                          const hocket_layout* target, hocket_layout** layout);

/* `length` elements from row-major element number `first` on. */
typedef struct hocket_segment {
    int64_t first, length;
} hocket_segment;
/* Explicit segments of the row-major flattened array, those of process 0 first, then those of
 * process 1, …; counts[r] is the number of process r's segments. Elements in gaps have no owner. */
int hocket_layout_indexed(int64_t dimensions, const int64_t* shape, int64_t processes,
                          const int64_t* counts, const hocket_segment* segments,
                          hocket_layout** layout);

/* One box of indices for each process: start[r*dimensions + d] <= i < stop[…] for process r.
 * Boxes may leave gaps; overlapping boxes hold copies. */
int hocket_layout_boxes(int64_t dimensions, const int64_t* shape, int64_t processes,
                        const int64_t* start, const int64_t* stop, hocket_layout** layout);
/* Row-major element numbers in the order of the local arrays, those of process 0 first, then
 * those of process 1, …; counts[r] is the number of process r's elements. */
int hocket_layout_elements(int64_t dimensions, const int64_t* shape, int64_t processes,
                           const int64_t* counts, const int64_t* elements, hocket_layout** layout);

/* A value for a name in a program; a layout with its name in the program, which lives as long as
 * the layout. */
typedef struct hocket_parameter {
    const char* name;
    int64_t value;
} hocket_parameter;
typedef struct hocket_named_layout {
    const char* name;
    hocket_layout* layout;
} hocket_named_layout;
/* Every array that the directives of a Fortran program distribute or align. The layouts in
 * `values` are new handles. */
int hocket_layout_from_hpf(const char* program, int64_t parameters, const hocket_parameter* given,
                           int64_t capacity, hocket_named_layout* values, int64_t* count);

/* The `count` indices first, first + step, … of one dimension; keep = false drops the dimension. */
typedef struct hocket_slice {
    int64_t first, count, step;
    bool keep;
} hocket_slice;
/* The layout of a[slices], one slice a dimension: a new handle. */
int hocket_layout_section(const hocket_layout* layout, const hocket_slice* slices,
                          hocket_layout** section);
/* The local positions along `dimension`, on process `rank`, of the section's elements. */
int hocket_layout_section_places(const hocket_layout* layout, const hocket_slice* slices,
                                 int64_t rank, int64_t dimension, int64_t capacity, int64_t* values,
                                 int64_t* count);
/* The same parts on other processes: process ranks[r] holds the part of process r. `size`:
 * number of processes; 0: the highest number in `ranks` plus 1. A new handle. */
int hocket_layout_relabeled(const hocket_layout* layout, const int64_t* ranks, int64_t size,
                            hocket_layout** relabeled);

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
/* Number of elements of the global array. */
int hocket_layout_num_elements(const hocket_layout* layout, int64_t* elements);
/* True for explicit segments and listed elements, whose local arrays have one dimension. */
int hocket_layout_is_indexed(const hocket_layout* layout, bool* indexed);

/* The extents, and the number of elements, of process `rank`'s local array. */
int hocket_layout_local_shape(const hocket_layout* layout, int64_t rank, int64_t capacity,
                              int64_t* values, int64_t* count);
int hocket_layout_local_elements(const hocket_layout* layout, int64_t rank, int64_t* elements);
/* The global indices of process `rank` along `dimension`, increasing. Explicit segments and
 * listed elements have one dimension, of row-major element numbers in the order of the local
 * array. */
int hocket_layout_global_indices(const hocket_layout* layout, int64_t rank, int64_t dimension,
                                 int64_t capacity, int64_t* values, int64_t* count);

/* The part of process `rank` as one slice a dimension. HOCKET_ERR_LAYOUT: the indices of a
 * dimension are not equally spaced, or are a list. */
int hocket_layout_slices(const hocket_layout* layout, int64_t rank, int64_t capacity,
                         hocket_slice* values, int64_t* count);
/* The part of every process as a box, as for hocket_layout_boxes: `processes` times `dimensions`
 * numbers each. HOCKET_ERR_LAYOUT: a part is no box. */
int hocket_layout_to_boxes(const hocket_layout* layout, int64_t* start, int64_t* stop);

/* The layout of a ScaLAPACK matrix: `desc` is the descriptor of 9 integers on process `rank`;
 * -1: does not check LLD_. processes[p*columns + q] is at row p and column q of the BLACS grid;
 * NULL: 0, 1, 2, … row by row, as in BLACS_GRIDINIT with 'R'. Local arrays are column-major;
 * transposed = true gives the layout of the transpose, whose local arrays are the same memory,
 * row-major. */
int hocket_layout_from_blacs(const int* desc, int64_t rows, int64_t columns,
                             const int64_t* processes, int64_t rank, bool transposed,
                             hocket_layout** layout);
/* The descriptor on process `rank`. CTXT_ is `context`, and -1 outside the grid. */
int hocket_layout_to_blacs(const hocket_layout* layout, int64_t rank, int context, bool transposed,
                           int* desc);
/* The grid of that descriptor: its extents, and its processes row by row. */
int hocket_layout_blacs_grid(const hocket_layout* layout, bool transposed, int64_t* rows,
                             int64_t* columns, int64_t capacity, int64_t* values, int64_t* count);

/* All owners of an element; the lowest owner; the index of the element in the local array of the
 * lowest owner. `index` has one entry a dimension. */
int hocket_layout_owners(const hocket_layout* layout, const int64_t* index, int64_t capacity,
                         int64_t* values, int64_t* count);
int hocket_layout_owner(const hocket_layout* layout, const int64_t* index, int64_t* rank);
int hocket_layout_local_index(const hocket_layout* layout, const int64_t* index, int64_t capacity,
                              int64_t* values, int64_t* count);

/* Layouts are equal if their shapes, sizes and the index sets of every process are equal. Equal
 * layouts have equal hashes. */
int hocket_layout_equal(const hocket_layout* a, const hocket_layout* b, bool* equal);
int hocket_layout_hash(const hocket_layout* layout, uint64_t* hash);

#ifdef __cplusplus
}
#endif

#endif
