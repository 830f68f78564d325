/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for C: copies and permutations in one process's memory; see hocket/kernel.hpp. */
#ifndef HOCKET_C_KERNEL_H
#define HOCKET_C_KERNEL_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of stores of a copy: by size; through the caches; past the caches. */
enum hocket_stores {
    HOCKET_STORES_AUTOMATIC = 0,
    HOCKET_STORES_CACHED = 1,
    HOCKET_STORES_STREAMING = 2
};

/* A copy of a box of elements from one strided place to another, made once and run many times.
 * The three lists have `dimensions` entries; strides may be negative, and 0 in the source. The
 * destination's elements must not overlap each other, nor the source. */
int hocket_copy_make(int64_t dimensions, const int64_t* extents, int64_t itemsize,
                     const int64_t* source_strides, const int64_t* destination_strides,
                     hocket_copy** copy);
int hocket_copy_run(const hocket_copy* copy, const void* source, void* destination, int threads,
                    int stores);
int hocket_copy_bytes(const hocket_copy* copy, int64_t* bytes);
/* Whether the box is one contiguous run on that side. */
int hocket_copy_source_contiguous(const hocket_copy* copy, bool* contiguous);
int hocket_copy_destination_contiguous(const hocket_copy* copy, bool* contiguous);
int hocket_copy_free(hocket_copy** copy);

/* A vacancy-tracking cycle: its smallest position and its number of positions, in units of the
 * contiguous block that moves. */
typedef struct hocket_cycle {
    int64_t start, length;
} hocket_cycle;

/* The cycles longer than 1 of numpy.transpose(array, axes) in place, sorted; `shape` and `axes`
 * have `dimensions` entries. */
int hocket_cycles(int64_t dimensions, const int64_t* shape, const int64_t* axes, int64_t capacity,
                  hocket_cycle* values, int64_t* count);
/* The successive vacancies of the cycle through position `start`, which is both first and last. */
int hocket_cycle_path(int64_t dimensions, const int64_t* shape, const int64_t* axes, int64_t start,
                      int64_t capacity, int64_t* values, int64_t* count);

/* Members that are 0 or NULL have defaults: `hocket_permute_options options = {0};` */
typedef struct hocket_permute_options {
    int threads;          /* 0: HOCKET_THREADS, else the available cores */
    const char* schedule; /* assignment of the work to threads; NULL: "auto" */
    int stores;           /* of hocket_permute: one of hocket_stores */
    const char* method;   /* of hocket_permute_inplace; NULL: "auto" */
    const int64_t* cap;   /* of hocket_permute_inplace: the most bytes of memory beside the array */
} hocket_permute_options;

/* Copies a strided array into another with permuted dimensions, as numpy.transpose(array, axes).
 * Strides are in bytes; NULL: dense and row-major. `options` may be NULL. The arrays must not
 * overlap. */
int hocket_permute(const void* source, int64_t dimensions, const int64_t* shape,
                   const int64_t* strides, int64_t itemsize, const int64_t* axes, void* destination,
                   const int64_t* destination_strides, const hocket_permute_options* options);
/* Permutes a dense row-major array within its own memory. */
int hocket_permute_inplace(void* array, int64_t dimensions, const int64_t* shape, int64_t itemsize,
                           const int64_t* axes, const hocket_permute_options* options);
/* Explains how hocket_permute_inplace would proceed, and its cost; lives until this thread's
 * next call. */
int hocket_permute_explain(int64_t dimensions, const int64_t* shape, int64_t itemsize,
                           const int64_t* axes, const hocket_permute_options* options,
                           const char** text);

/* The memory layout of a matrix: element (i, j) is i * row_stride + j * column_stride bytes
 * after element (0, 0). Strides may be negative. */
typedef struct hocket_matrix_form {
    int64_t rows, columns;
    int64_t row_stride, column_stride; /* in bytes */
} hocket_matrix_form;

/* Copies row rows[i] of the source to row i of the destination, which has `count` rows, and as
 * many columns as the source. The matrices must not overlap. See hocket/rows.hpp. */
int hocket_take_rows(const void* source, const hocket_matrix_form* from, int64_t count,
                     const int64_t* rows, int64_t itemsize, void* destination,
                     const hocket_matrix_form* to);
/* Copies row i of the source, which has `count` rows, to row rows[i] of the destination. */
int hocket_put_rows(const void* source, const hocket_matrix_form* from, int64_t count,
                    const int64_t* rows, int64_t itemsize, void* destination,
                    const hocket_matrix_form* to);
/* Swaps rows first[i] and second[i] of a matrix, one pair after the other. */
int hocket_swap_rows(void* matrix, const hocket_matrix_form* form, int64_t count,
                     const int64_t* first, const int64_t* second, int64_t itemsize);

#ifdef __cplusplus
}
#endif

#endif
