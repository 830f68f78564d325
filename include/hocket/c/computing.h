/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on whole arrays, for C; see hocket/computing.hpp for their results. Results are new
 * arrays, for hocket_array_free. All but hocket_transpose, hocket_random_*, hocket_array_item and
 * hocket_array_global_indices are collective. */
#ifndef HOCKET_C_COMPUTING_H
#define HOCKET_C_COMPUTING_H

#include "hocket/c/array.h"
#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hocket_combine {
    HOCKET_SUM = 0,
    HOCKET_PRODUCT = 1,
    HOCKET_MAXVAL = 2,
    HOCKET_MINVAL = 3,
    HOCKET_ALL = 4,
    HOCKET_ANY = 5,
    HOCKET_PARITY = 6,
    HOCKET_IALL = 7,
    HOCKET_IANY = 8,
    HOCKET_IPARITY = 9,
    HOCKET_COUNT = 10,
    HOCKET_REPLACE = 11
};

/* Members that are 0 or NULL have defaults: `hocket_compute_options options = {0};` Each
 * function reads the members that its description in hocket/computing.hpp names. */
typedef struct hocket_compute_options {
    const int64_t* dim;       /* a dimension, from 0; NULL: all elements */
    const hocket_array* mask; /* NULL: all elements take part */
    const hocket_array* segment;
    const hocket_array* shifts;
    bool exclusive, suffix, descending;
    bool column_major;   /* the order of elements, and the memory order of results */
    int64_t first_index; /* number of the first index of a dimension and of `dim` */
} hocket_compute_options;

/* `options` may be NULL. `op`: of enum hocket_combine. */
int hocket_reduce(const hocket_array* array, int op, const hocket_compute_options* options,
                  double timeout, hocket_array** result);
int hocket_locate(const hocket_array* array, int op, const hocket_compute_options* options,
                  double timeout, hocket_array** result);
int hocket_dot_product(const hocket_array* a, const hocket_array* b, double timeout,
                       hocket_array** result);
/* `multiply`: adds the product of dense row-major matrices, m x k and k x n, to c; NULL:
 * hocket's own loop. */
int hocket_matmul(const hocket_array* a, const hocket_array* b,
                  void (*multiply)(int64_t m, int64_t n, int64_t k, const void* a, const void* b,
                                   void* c),
                  const hocket_compute_options* options, double timeout, hocket_array** result);
int hocket_cshift(const hocket_array* array, int64_t shift, const hocket_compute_options* options,
                  double timeout, hocket_array** result);
/* `boundary`: an element; NULL: zero bytes. */
int hocket_eoshift(const hocket_array* array, int64_t shift, const void* boundary,
                   const hocket_compute_options* options, double timeout, hocket_array** result);
int hocket_assign(hocket_array* destination, const hocket_array* source, double timeout);
int hocket_merge(const hocket_array* yes, const hocket_array* no, const hocket_array* mask,
                 const hocket_compute_options* options, double timeout, hocket_array** result);
/* `vector` may be NULL. */
int hocket_pack(const hocket_array* array, const hocket_array* mask, const hocket_array* vector,
                const hocket_compute_options* options, double timeout, hocket_array** result);
int hocket_unpack(const hocket_array* vector, const hocket_array* mask, const hocket_array* field,
                  const hocket_compute_options* options, double timeout, hocket_array** result);
int hocket_spread(const hocket_array* array, int64_t copies, const hocket_compute_options* options,
                  double timeout, hocket_array** result);
int hocket_transpose(const hocket_array* array, hocket_array** result);
int hocket_scan(const hocket_array* array, int op, const hocket_compute_options* options,
                double timeout, hocket_array** result);
/* `indices`: `count` arrays, one a dimension of `base`. */
int hocket_scatter_combine(const hocket_array* base, const hocket_array* values, int64_t count,
                           const hocket_array* const* indices, int op,
                           const hocket_compute_options* options, double timeout,
                           hocket_array** result);
int hocket_grade(const hocket_array* array, const hocket_compute_options* options, double timeout,
                 hocket_array** result);

/* Random numbers; see hocket::random_uniform in hocket/computing.hpp. Local. */
int hocket_random_uniform(hocket_array* array, uint64_t seed, double low, double high);
int hocket_random_normal(hocket_array* array, uint64_t seed, double mean, double deviation);
int hocket_random_integers(hocket_array* array, uint64_t seed, int64_t low, int64_t high);

/* The element of an array of shape (), of `dtype`, NumPy's name. */
int hocket_array_item(const hocket_array* array, const char* dtype, void* value);
/* The global indices, from 0, of this process's elements along a dimension, in the order of its
 * local array. */
int hocket_array_global_indices(const hocket_array* array, int64_t dimension, int64_t capacity,
                                int64_t* values, int64_t* count);

#ifdef __cplusplus
}
#endif

#endif
