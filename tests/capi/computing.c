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

/* Random numbers, the same in every layout, and their conversion. */
static void test_random(void) {
    char text[100];
    hocket_layout *layout, *listed;
    hocket_array *a, *b, *whole = NULL, *found = NULL, *wrong;
    void *x, *y;
    snprintf(text, sizeof text, "(3, 4) (CYCLIC, *) @ (%d)", ranks);
    layout = layout_of(text);
    listed = layout_of("(3, 4) (*, *) @ ()");
    OK(hocket_array_empty(layout, "float64", 0, MPI_COMM_WORLD, &a));
    OK(hocket_array_empty(listed, "float64", 0, MPI_COMM_WORLD, &b));
    OK(hocket_array_empty(listed, "float64", 0, MPI_COMM_WORLD, &whole));
    OK(hocket_array_data(b, &x));
    OK(hocket_array_data(whole, &y));
    for (int kind = 0; kind < 2; ++kind) {
        if (kind == 0) {
            OK(hocket_random_uniform(a, 7, 2, 3));
            OK(hocket_random_uniform(b, 7, 2, 3));
        } else {
            OK(hocket_random_normal(a, 7, 0, 1));
            OK(hocket_random_normal(b, 7, 0, 1));
        }
        OK(hocket_redistribute(a, whole, NULL, 60));
        CHECK(rank != 0 || memcmp(x, y, 12 * sizeof(double)) == 0);
        CHECK(kind != 0 || rank != 0 || (((double*)x)[5] >= 2 && ((double*)x)[5] < 3));
    }
    FAILS(HOCKET_ERR_ERROR, hocket_random_uniform(a, 7, 3, 2));
    SAYS("from 3 to 2");
    FAILS(HOCKET_ERR_ERROR, hocket_random_uniform(a, 7, -INFINITY, 2));
    FAILS(HOCKET_ERR_ERROR, hocket_random_normal(a, 7, 0, NAN));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_random_normal(NULL, 7, 0, 1));
    FAILS(HOCKET_ERR_ERROR, hocket_random_integers(a, 7, 0, 9));
    SAYS("float64 holds no integers");
    OK(hocket_array_empty(listed, "int16", 0, MPI_COMM_WORLD, &wrong));
    OK(hocket_random_integers(wrong, 7, -3, 9));
    FAILS(HOCKET_ERR_ERROR, hocket_random_integers(wrong, 7, 0, 40000));
    SAYS("no integers of int16 from 0 to 40000");
    FAILS(HOCKET_ERR_ERROR, hocket_random_integers(wrong, 7, 5, 5));
    FAILS(HOCKET_ERR_ERROR, hocket_random_normal(wrong, 7, 0, 1));
    OK(hocket_array_astype(wrong, "float64", &found));
    OK(hocket_array_data(wrong, &x));
    OK(hocket_array_data(found, &y));
    for (int k = 0; k < 12 && rank == 0; ++k)
        CHECK(((double*)y)[k] == ((int16_t*)x)[k] && ((int16_t*)x)[k] >= -3 &&
              ((int16_t*)x)[k] < 9);
    FAILS(HOCKET_ERR_MISMATCH, hocket_array_astype(wrong, "colour", &found));
    SAYS("converts no int16 to colour");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_astype(wrong, NULL, &found));
    OK(hocket_array_free(&found));
    /* int16 travels both ways. */
    const hocket_transfer_options convert = {.convert = true};
    OK(hocket_redistribute(wrong, a, &convert, 60));
    OK(hocket_redistribute(a, b, NULL, 60));
    OK(hocket_array_data(b, &y));
    for (int k = 0; k < 12 && rank == 0; ++k) CHECK(((double*)y)[k] == ((int16_t*)x)[k]);
    OK(hocket_random_uniform(a, 1, -100, 100));
    OK(hocket_redistribute(a, wrong, &convert, 60));
    OK(hocket_redistribute(a, b, NULL, 60));
    for (int k = 0; k < 12 && rank == 0; ++k) CHECK(((int16_t*)x)[k] == (int16_t)((double*)y)[k]);
    FAILS(HOCKET_ERR_MISMATCH, hocket_redistribute(a, rank == 0 ? wrong : b, NULL, 60));
    SAYS("the option convert converts");
    if (ranks > 1)
        FAILS(HOCKET_ERR_MISMATCH, hocket_redistribute(a, rank == 0 ? wrong : b, &convert, 60));
    OK(hocket_array_free(&a));
    OK(hocket_array_free(&b));
    OK(hocket_array_free(&whole));
    OK(hocket_array_free(&wrong));
    OK(hocket_layout_free(&layout));
    OK(hocket_layout_free(&listed));
}

/* A deadline ends the wait of rank 0, not the operation: that converts its elements, too. The
 * memory of `late` is not dense. */
static void test_late_conversion(void) {
    enum { elements = 8 };
    const int64_t apart = 2 * sizeof(double);
    const hocket_transfer_options convert = {.convert = true};
    double memory[2 * elements];
    char text[100];
    hocket_layout *rows, *dealt;
    hocket_array *a, *b, *late, *single = NULL;
    int64_t mine;
    for (int k = 0; k < 2 * elements; ++k) memory[k] = -1;
    snprintf(text, sizeof text, "(%d) (BLOCK) @ (%d)", elements, ranks);
    rows = layout_of(text);
    snprintf(text, sizeof text, "(%d) (CYCLIC) @ (%d)", elements, ranks);
    dealt = layout_of(text);
    a = numbered(rows, MPI_COMM_WORLD);
    OK(hocket_array_astype(a, "float32", &single));
    OK(hocket_array_empty(dealt, "float64", 0, MPI_COMM_WORLD, &b));
    OK(hocket_array_wrap(memory, dealt, "float64", 0, MPI_COMM_WORLD, &apart, &late));
    if (rank == 0 && ranks > 1)
        FAILS(HOCKET_ERR_DEADLINE, hocket_redistribute(single, late, &convert, 0.05));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0 || ranks == 1) OK(hocket_redistribute(single, late, &convert, 60));
    for (int k = 0; k < 2; ++k) OK(hocket_redistribute(a, b, NULL, 60)); /* waits of rank 0 */
    OK(hocket_layout_local_elements(dealt, rank, &mine));
    CHECK(wrong_numbers(late) == 0);
    for (int k = 0; k < elements; ++k) {
        CHECK(memory[2 * k + 1] == -1);
        CHECK(k < mine || memory[2 * k] == -1);
    }
    OK(hocket_array_free(&late));
    OK(hocket_array_free(&single));
    OK(hocket_array_free(&b));
    OK(hocket_array_free(&a));
    OK(hocket_layout_free(&rows));
    OK(hocket_layout_free(&dealt));
}

/* Elements 1 to 12 in a matrix of 3 x 4. */
void test_intrinsics(void) {
    test_random();
    test_late_conversion();
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
    options.first_index = INT64_MAX;
    FAILS(HOCKET_ERR_ARGUMENT, hocket_reduce(a, HOCKET_SUM, &options, 60, &result));
    options.first_index = 0;
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
