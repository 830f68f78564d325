/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays with a border. */
#include "check.h"

/* The first row of the border, by an operation and by a step of a flow. */
static void test_later(hocket_halo* halo, double* data, int64_t row, int64_t cols) {
    hocket_operation* operation = NULL;
    hocket_flow* flow = NULL;
    double kept[3];
    for (int64_t j = 0; j < cols; ++j) kept[j] = data[2 + j], data[2 + j] = -1;
    OK(hocket_halo_iexchange(halo, true, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    for (int64_t j = 0; j < cols; ++j) CHECK(data[2 + j] == kept[j]), data[2 + j] = -1;
    OK(hocket_flow_make(NULL, &flow));
    OK(hocket_flow_exchange(flow, halo, 0));
    OK(hocket_flow_wait(flow, 60));
    for (int64_t j = 0; j < cols; ++j) CHECK(data[2 + j] == kept[j]);
    CHECK(row >= cols);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_exchange(flow, NULL, 0));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_exchange(NULL, halo, 0));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_halo_iexchange(halo, true, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_halo_iexchange(NULL, true, &operation));
    OK(hocket_flow_free(&flow));
}

/* Rows dealt out in blocks, a border of one row and two columns, rows going round. */
void test_halo(void) {
    enum { rows = 7, cols = 3 };
    const int64_t width[2] = {1, 2}, wrong[2] = {-1, 0};
    const bool periodic[2] = {true, false};
    char text[100];
    hocket_layout *layout, *dealt;
    hocket_array *array, *inside = NULL, *cyclic;
    hocket_halo *halo = NULL, *none = NULL;
    hocket_operation* started = NULL;
    int64_t shape[2], values[2], first, count;
    double* data;
    void* memory = NULL;
    bool below, above;
    snprintf(text, sizeof text, "(%d, %d) (BLOCK, *) @ (%d)", rows, cols, ranks);
    layout = layout_of(text);
    array = numbered(layout, MPI_COMM_WORLD);
    OK(hocket_halo_make(array, width, periodic, &halo));
    OK(hocket_halo_edges(halo, 0, &below, &above));
    CHECK(!below && !above); /* rows go round */
    OK(hocket_halo_edges(halo, 1, &below, &above));
    first = rank * ((rows + ranks - 1) / ranks);
    CHECK(below == (first < rows) && above == below);
    FAILS(HOCKET_ERR_ERROR, hocket_halo_edges(halo, 2, &below, &above));
    OK(hocket_halo_width(halo, 2, values, NULL));
    CHECK(values[0] == 1 && values[1] == 2);
    OK(hocket_halo_array(halo, &inside));
    CHECK(wrong_numbers(inside) == 0);
    OK(hocket_halo_data(halo, &memory));
    OK(hocket_halo_local_shape(halo, 2, shape, &count));
    CHECK(count == 2);
    data = memory;
    for (int64_t i = 0; i < shape[0] * shape[1]; ++i)
        if (i / shape[1] == 0 || i / shape[1] == shape[0] - 1) data[i] = -1;
    OK(hocket_halo_exchange(halo, 60));
    first = rank * ((rows + ranks - 1) / ranks);
    for (int64_t i = 0; i < shape[0]; ++i)
        for (int64_t j = 0; j < cols; ++j) {
            const int64_t row = (first + i - 1 + rows) % rows;
            CHECK(data[i * shape[1] + 2 + j] == 1 + (double)(row * cols + j));
        }
    CHECK(shape[0] == 0 || shape[1] == cols + 4);
    for (int64_t j = 0; shape[0] > 0 && j < cols; ++j) data[2 + j] = -1;
    OK(hocket_halo_iexchange(halo, false, &started));
    OK(hocket_operation_wait(started, 60));
    OK(hocket_operation_free(&started));
    for (int64_t j = 0; shape[0] > 0 && j < cols; ++j)
        CHECK(data[2 + j] == 1 + (double)((first - 1 + rows) % rows * cols + j));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_halo_iexchange(halo, false, NULL));

    test_later(halo, data, shape[1], shape[0] == 0 ? 0 : cols);

    FAILS(HOCKET_ERR_LAYOUT, hocket_halo_make(array, wrong, NULL, &none));
    SAYS("width");
    FAILS(HOCKET_ERR_MEMORY,
          hocket_halo_make(array, (const int64_t[2]){INT64_MAX, 0}, NULL, &none));
    SAYS("a border of width 9223372036854775807 along dimension 0 has more than 2^63");
    FAILS(HOCKET_ERR_MEMORY,
          hocket_halo_make(array, (const int64_t[2]){0, INT64_C(1) << 60}, NULL, &none));
    SAYS("along dimension 1 has more than 2^63");
    if (shape[0] > 0) { /* each row would go round 2^40 times */
        FAILS(HOCKET_ERR_MEMORY,
              hocket_halo_make(array, (const int64_t[2]){INT64_C(1) << 40, 0}, periodic, &none));
        SAYS("no memory");
    }
    FAILS(HOCKET_ERR_ARGUMENT, hocket_halo_exchange(halo, NAN));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_halo_make(NULL, width, NULL, &none));
    if (ranks > 1 && ranks < 4) {
        snprintf(text, sizeof text, "(%d, %d) (CYCLIC, *) @ (%d)", rows, cols, ranks);
        dealt = layout_of(text);
        cyclic = numbered(dealt, MPI_COMM_WORLD);
        FAILS(HOCKET_ERR_LAYOUT, hocket_halo_make(cyclic, width, NULL, &none));
        SAYS("several intervals");
        OK(hocket_array_free(&cyclic));
        OK(hocket_layout_free(&dealt));
    }
    OK(hocket_array_free(&inside));
    OK(hocket_halo_free(&halo));
    OK(hocket_array_free(&array));
    OK(hocket_layout_free(&layout));
}
