/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on whole arrays: what only C can do wrong. tests/mpi/test_intrinsics.py, which calls
 * the same functions, compares their results with the definitions. */
#include "check.h"

static void twice(int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c) {
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int64_t l = 0; l < k; ++l)
                ((double*)c)[i * n + j] +=
                    2 * ((const double*)a)[i * k + l] * ((const double*)b)[l * n + j];
}

static double number_of(hocket_array* array) {
    double value = -1;
    OK(hocket_array_item(array, "float64", &value));
    OK(hocket_array_free(&array));
    return value;
}

/* Elements 1 to 12 in a matrix of 3 x 4. */
void test_intrinsics(void) {
    char text[100];
    const int64_t dim = 1, wrong = 2;
    hocket_compute_options options = {0};
    hocket_layout* layout;
    hocket_array *a, *result = NULL, *turned = NULL, *other = NULL, *gone = NULL;
    hocket_operation* none = NULL;
    int64_t indices[4], count;
    float single;
    snprintf(text, sizeof text, "(3, 4) (CYCLIC, *) @ (%d)", ranks);
    layout = layout_of(text);
    a = numbered(layout, MPI_COMM_WORLD);
    OK(hocket_reduce(a, HOCKET_SUM, NULL, 60, &result));
    FAILS(HOCKET_ERR_MISMATCH, hocket_array_item(result, "float32", &single));
    CHECK(number_of(result) == 78);
    options.dim = &dim;
    OK(hocket_reduce(a, HOCKET_MAXVAL, &options, 60, &result));
    OK(hocket_reduce(result, HOCKET_SUM, NULL, 60, &other));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_item(result, "float64", &single));
    OK(hocket_array_free(&result));
    CHECK(number_of(other) == 4 + 8 + 12);
    OK(hocket_dot_product(a, a, 60, &result));
    CHECK(number_of(result) == 650);
    OK(hocket_transpose(a, &turned));
    OK(hocket_matmul(a, turned, twice, NULL, 60, &result));
    OK(hocket_reduce(result, HOCKET_SUM, NULL, 60, &other));
    CHECK(number_of(other) == 2 * (15 * 15 + 18 * 18 + 21 * 21 + 24 * 24));
    OK(hocket_array_free(&result));
    OK(hocket_array_free(&turned));
    OK(hocket_array_global_indices(a, 1, 4, indices, &count));
    CHECK(count == 4 || rank >= 3);
    OK(hocket_scan(a, HOCKET_SUM, NULL, 60, &result));
    OK(hocket_reduce(result, HOCKET_MAXVAL, NULL, 60, &other));
    CHECK(number_of(other) == 78);
    OK(hocket_assign(a, result, 60));
    OK(hocket_array_free(&result));
    OK(hocket_reduce(a, HOCKET_MAXVAL, NULL, 60, &other));
    CHECK(number_of(other) == 78);

    /* Wrong on every process. */
    FAILS(HOCKET_ERR_ARGUMENT, hocket_reduce(a, -1, NULL, 60, &result));
    SAYS("HOCKET_REPLACE");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_reduce(a, HOCKET_SUM, NULL, 60, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_reduce(NULL, HOCKET_SUM, NULL, 60, &result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_merge(a, a, NULL, NULL, 60, &result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_scatter_combine(a, a, -1, NULL, 0, NULL, 60, &result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_item(NULL, "float64", &single));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transpose((hocket_array*)none, &result));
    FAILS(HOCKET_ERR_MISMATCH, hocket_reduce(a, HOCKET_IANY, NULL, 60, &result));
    SAYS("integers of 8 to 64 bits");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_locate(a, 99, NULL, 60, &result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_cshift(NULL, 1, NULL, 60, &result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_eoshift(a, 1, NULL, NULL, 60, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_pack(a, NULL, NULL, NULL, 60, &result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_unpack(a, NULL, a, NULL, 60, &result));
    FAILS(HOCKET_ERR_LAYOUT, hocket_spread(a, -1, NULL, 60, &result));
    FAILS(HOCKET_ERR_LAYOUT, hocket_grade(a, NULL, 60, &result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_assign(a, NULL, 60));
    FAILS(HOCKET_ERR_LAYOUT, hocket_array_global_indices(a, 2, 4, indices, &count));
    /* Wrong on one process: all get the error. */
    options.dim = rank == ranks - 1 ? &wrong : &dim;
    FAILS(HOCKET_ERR_LAYOUT, hocket_reduce(a, HOCKET_SUM, &options, 60, &result));
    SAYS("no dimension 2");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_dot_product(a, rank == 0 ? gone : a, 60, &result));
    /* Different calls. */
    if (ranks > 1) {
        FAILS(HOCKET_ERR_MISMATCH, hocket_cshift(a, rank == 0 ? 1 : 2, NULL, 60, &result));
        SAYS("cshift");
        const double edge = rank == 0, zero = 0;
        FAILS(HOCKET_ERR_MISMATCH, hocket_eoshift(a, 1, &edge, NULL, 60, &result));
        SAYS("boundary=1");
        OK(hocket_eoshift(a, 1, rank == 0 ? NULL : &zero, NULL, 60, &result));
        OK(hocket_array_free(&result));
        options.dim = NULL, options.first_index = rank == 0;
        FAILS(HOCKET_ERR_MISMATCH, hocket_locate(a, HOCKET_MAXVAL, &options, 60, &result));
        SAYS("first_index=1");
        OK(hocket_cshift(a, 1, &options, 60, &result)); /* counts no indices */
        OK(hocket_array_free(&result));
    }
    OK(hocket_array_free(&a));
    OK(hocket_layout_free(&layout));
}
