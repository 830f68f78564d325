/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays in files, in the folder where the program was started. */
#include "check.h"

enum { rows = 7, cols = 5 };

static hocket_array* empty_of(const hocket_layout* layout) {
    hocket_array* array = NULL;
    OK(hocket_array_empty(layout, "float64", 0, MPI_COMM_WORLD, &array));
    clear(array);
    return array;
}

static void test_facts(const hocket_store* store) {
    const char* text = NULL;
    int64_t values[2], count;
    OK(hocket_store_path(store, &text));
    CHECK(strcmp(text, "c.zarr") == 0);
    OK(hocket_store_mode(store, &text));
    CHECK(strcmp(text, "w") == 0);
    OK(hocket_store_names(store, &text));
    CHECK(strcmp(text, "run/u,t") == 0);
    OK(hocket_store_attributes(store, &text));
    CHECK(strcmp(text, "{\"step\":7}") == 0);
    OK(hocket_store_array_attributes(store, "t", &text));
    CHECK(strcmp(text, "{\"unit\":\"K\"}") == 0);
    OK(hocket_store_dimension_names(store, "t", &text));
    CHECK(strcmp(text, "height,x") == 0);
    OK(hocket_store_dimension_names(store, "run/u", &text));
    CHECK(strcmp(text, "dim_0,dim_1") == 0);
    OK(hocket_store_dtype(store, "t", &text));
    CHECK(strcmp(text, "float64") == 0);
    OK(hocket_store_shape(store, "t", 2, values, &count));
    CHECK(count == 2 && values[0] == rows && values[1] == cols);
    OK(hocket_store_chunks(store, "t", 2, values, NULL));
    CHECK(values[0] == 2 && values[1] == 3);
    OK(hocket_store_shards(store, "t", 2, values, NULL));
    CHECK(values[0] == 4 && values[1] == 3);
    OK(hocket_store_shards(store, "run/u", 2, NULL, &count));
    CHECK(count == 0);
    OK(hocket_store_unfinished(store, &text));
    CHECK(strcmp(text, "") == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_store_dtype(store, "v", &text));
    SAYS("no array 'v'");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_names(NULL, &text));
}

/* The stored elements are the numbers of a row-major array of rows by cols. */
static void test_order(hocket_store* store) {
    const int64_t order[2] = {1, 0}, twice[2] = {1, 1};
    int64_t held[cols], count;
    char text[100];
    hocket_layout* lay;
    hocket_array* turned;
    void* data;
    snprintf(text, sizeof text, "(%d, %d) (BLOCK, *) @ (%d)", cols, rows, ranks);
    lay = layout_of(text);
    turned = empty_of(lay);
    OK(hocket_store_read(store, "t", turned, 0, NULL, 0, NULL, 2, order, 0, 60));
    OK(hocket_layout_global_indices(lay, rank, 0, cols, held, &count));
    OK(hocket_array_data(turned, &data));
    for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < rows; ++j)
            CHECK(((double*)data)[i * rows + j] == 1 + (double)(j * cols + held[i]));
    FAILS(HOCKET_ERR_LAYOUT,
          hocket_store_read(store, "t", turned, 0, NULL, 0, NULL, 2, twice, 0, 60));
    SAYS("permutation");
    FAILS(HOCKET_ERR_MISMATCH,
          hocket_store_read(store, "t", turned, 0, NULL, 0, NULL, 0, NULL, 0, 60));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_store_read(store, "t", turned, 0, NULL, 0, NULL, 2, NULL, 0, 60));
    OK(hocket_array_free(&turned));
    OK(hocket_layout_free(&lay));
}

/* Rows from the second on go to the same rows of another array, and come back transposed. */
static void test_started_regions(hocket_store* store, hocket_array* rows_but_one) {
    const int64_t lower[2] = {1, 0}, upper[2] = {rows, cols}, order[2] = {1, 0};
    const int64_t beyond[2] = {rows + 1, cols};
    int64_t held[cols], count;
    char text[100];
    hocket_operation* operation = NULL;
    hocket_layout* lay;
    hocket_array* turned;
    void* data;
    snprintf(text, sizeof text, "(%d, %d) (BLOCK, *) @ (%d)", cols, rows - 1, ranks);
    lay = layout_of(text);
    turned = empty_of(lay);
    OK(hocket_store_iwrite(store, "run/u", rows_but_one, 2, lower, 2, upper, 0, 0, false,
                           &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    OK(hocket_store_iread(store, "run/u", turned, 2, lower, 2, upper, 2, order, 0, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    OK(hocket_layout_global_indices(lay, rank, 0, cols, held, &count));
    OK(hocket_array_data(turned, &data));
    for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < rows - 1; ++j)
            CHECK(((double*)data)[i * (rows - 1) + j] == 1 + (double)((j + 1) * cols + held[i]));
    OK(hocket_store_iread(store, "run/u", turned, 2, lower, 2, beyond, 2, order, 0, &operation));
    FAILS(HOCKET_ERR_ERROR, hocket_operation_wait(operation, 60));
    SAYS("no region");
    OK(hocket_operation_free(&operation));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_store_iread(store, "run/u", turned, 2, NULL, 2, upper, 0, NULL, 0, &operation));
    OK(hocket_array_free(&turned));
    OK(hocket_layout_free(&lay));
}

static void test_started(hocket_store* store, hocket_array* a, hocket_array* b) {
    hocket_operation* operation = NULL;
    hocket_flow* flow = NULL;
    OK(hocket_store_iwrite(store, "t", a, 0, NULL, 0, NULL, 1, 48, true, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    OK(hocket_store_iread(store, "t", b, 0, NULL, 0, NULL, 0, NULL, 0, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    CHECK(wrong_numbers(b) == 0);
    clear(b);
    OK(hocket_store_write_later(store, "run/u", a, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    OK(hocket_store_read_later(store, "run/u", b, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    CHECK(wrong_numbers(b) == 0);
    OK(hocket_flow_make(NULL, &flow));
    clear(b);
    OK(hocket_flow_write(flow, store, "t", a, 0));
    OK(hocket_flow_read(flow, store, "t", b, 0));
    OK(hocket_flow_wait(flow, 60));
    CHECK(wrong_numbers(b) == 0);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_read(flow, store, NULL, b, 0));
    OK(hocket_flow_free(&flow));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_store_iread(store, "t", b, 0, NULL, 0, NULL, 0, NULL, 0, NULL));
}

/* A file stands where writers of 's' need a folder. */
static void test_failed_write(hocket_array* a) {
    const char* const folder = "failed.zarr/t/c";
    const char* text = NULL;
    const int64_t shape[2] = {rows, cols};
    hocket_store* store = NULL;
    OK(hocket_store_open("failed.zarr", "w", MPI_COMM_WORLD, 60, &store));
    OK(hocket_store_create(store, "t", 2, shape, "float64", 0, 0, NULL, 0, NULL, NULL, NULL, NULL,
                           NULL, 60));
    if (rank == 0) {
        FILE* const file = fopen(folder, "w");
        CHECK(file != NULL);
        if (file != NULL) fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    FAILS(HOCKET_ERR_ERROR, hocket_store_write(store, "t", a, 0, NULL, 0, NULL, 0, 0, 60));
    OK(hocket_store_close(store, 60));
    OK(hocket_store_free(&store));
    if (rank == 0) CHECK(remove(folder) == 0);
    OK(hocket_store_open("failed.zarr", "r+", MPI_COMM_WORLD, 60, &store));
    OK(hocket_store_unfinished(store, &text));
    CHECK(strstr(text, "whose write of 't' failed") != NULL);
    OK(hocket_store_write(store, "t", a, 0, NULL, 0, NULL, 0, 0, 60));
    OK(hocket_store_close(store, 60));
    OK(hocket_store_free(&store));
    OK(hocket_store_open("failed.zarr", "r", MPI_COMM_WORLD, 60, &store));
    OK(hocket_store_unfinished(store, &text));
    CHECK(strcmp(text, "") == 0);
    OK(hocket_store_free(&store));
}

static void test_checkpoints(hocket_array* a, hocket_array* b) {
    const hocket_array* out[2] = {a, a};
    hocket_array* in[2] = {b, b};
    for (int step = 0; step < 3; ++step)
        OK(hocket_save("saved.zarr", "t,u", 2, out, "{\"step\":7}", NULL, 1, 60));
    clear(b);
    OK(hocket_load("saved.zarr", "t,u", 2, in, 60));
    CHECK(wrong_numbers(b) == 0);
    OK(hocket_load("saved.zarr.1", "u", 1, in, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_load("saved.zarr.2", "u", 1, in, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_save("saved.zarr", "t", 2, out, NULL, NULL, 0, 60));
    SAYS("a name for each");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_save("saved.zarr", "", 0, NULL, NULL, NULL, 0, 60));
    OK(hocket_save("saved.npy", "saved", 1, out, NULL, NULL, 0, 60));
    clear(b);
    OK(hocket_load("saved.npy", "saved", 1, in, 60));
    CHECK(wrong_numbers(b) == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_save("saved.npy", "t,u", 2, out, NULL, NULL, 0, 60));
    SAYS("one array");
    if (hocket_save("saved.h5", "t,run/u", 2, out, "{\"step\":7}", "gzip", 0, 60) !=
        HOCKET_SUCCESS) {
        SAYS("finds no HDF5");
        return;
    }
    clear(b);
    OK(hocket_load("saved.h5", "run/u", 1, in, 60));
    CHECK(wrong_numbers(b) == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_save("saved.h5", "t", 1, out, "{\"a\":{}}", NULL, 0, 60));
    SAYS("'a'");
}

void test_stores(void) {
    const int64_t shape[2] = {rows, cols}, chunks[2] = {2, 3}, shards[2] = {4, 3};
    const int64_t lower[2] = {1, 0}, upper[2] = {rows, cols}, none[2] = {0, cols};
    const int64_t one[2] = {1, cols};
    int64_t opened = 0, reads = 0, writes = 0, bytes_read = 0, bytes_written = 0, count, values[2];
    char text[100];
    hocket_layout *by_rows, *by_columns, *part;
    hocket_array *a, *b, *c;
    hocket_store* store = NULL;
    snprintf(text, sizeof text, "(%d, %d) (BLOCK, *) @ (%d)", rows, cols, ranks);
    by_rows = layout_of(text);
    snprintf(text, sizeof text, "(%d, %d) (*, CYCLIC) @ (%d)", rows, cols, ranks);
    by_columns = layout_of(text);
    snprintf(text, sizeof text, "(%d, %d) (BLOCK, *) @ (%d)", rows - 1, cols, ranks);
    part = layout_of(text);
    a = numbered(by_rows, MPI_COMM_WORLD);
    b = empty_of(by_columns);
    c = empty_of(part);
    OK(hocket_store_open("c.zarr", "w", MPI_COMM_WORLD, 60, &store));
    OK(hocket_store_create(store, "t", 2, shape, "float64", 0, 2, chunks, 2, shards, "none", "1.5",
                           "{\"unit\":\"K\"}", "height,x", 60));
    OK(hocket_store_create(store, "run/u", 2, shape, "float64", 0, 0, NULL, 0, NULL, NULL, NULL,
                           NULL, NULL, 60));
    OK(hocket_store_set_attributes(store, "{\"step\":7}", 60));
    test_facts(store);
    OK(hocket_store_write(store, "t", a, 0, NULL, 0, NULL, 1, 48, 60));
    OK(hocket_store_read(store, "t", b, 0, NULL, 0, NULL, 0, NULL, 0, 60));
    CHECK(wrong_numbers(b) == 0);
    OK(hocket_store_read(store, "t", c, 2, lower, 2, upper, 0, NULL, 0, 60));
    FAILS(HOCKET_ERR_MISMATCH, hocket_store_read(store, "t", c, 0, NULL, 0, NULL, 0, NULL, 0, 60));
    test_started_regions(store, c);
    test_order(store);
    FAILS(HOCKET_ERR_ERROR, hocket_store_write(store, "t", a, 0, NULL, 0, NULL, 0, 47, 60));
    SAYS("max_buffer");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_write(store, NULL, a, 0, NULL, 0, NULL, 0, 0, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_write(store, "t", NULL, 0, NULL, 0, NULL, 0, 0, 60));
    clear(b);
    test_started(store, a, b);
    OK(hocket_store_create(store, "s", 2, none, "float64", 0, 2, one, 0, NULL, NULL, NULL, NULL,
                           NULL, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_store_create(store, "t/u", 2, shape, "float64", 0, 0, NULL, 0,
                                                NULL, NULL, NULL, NULL, NULL, 60));
    SAYS("has an array 't'");
    OK(hocket_store_append(store, "s", a, 0, 60));
    OK(hocket_store_append(store, "s", a, 0, 60));
    OK(hocket_store_shape(store, "s", 2, values, &count));
    CHECK(count == 2 && values[0] == 2 * rows);
    OK(hocket_store_counts(&opened, &reads, &writes, &bytes_read, &bytes_written));
    CHECK(rank > 0 || (opened > 0 && reads > 0 && bytes_read > 0));
    CHECK(rank > 0 || (writes > 0 && bytes_written > 0));
    OK(hocket_store_close(store, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_store_write(store, "t", a, 0, NULL, 0, NULL, 0, 0, 60));
    SAYS("closed");
    OK(hocket_store_free(&store));
    CHECK(store == NULL);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_free(&store));
    FAILS(HOCKET_ERR_ERROR, hocket_store_open("c.zarr", "w", MPI_COMM_WORLD, 60, &store));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_open(NULL, "r", MPI_COMM_WORLD, 60, &store));
    OK(hocket_store_open_fortran("c.zarr", "r", (int)MPI_Comm_c2f(MPI_COMM_WORLD), 60, &store));
    OK(hocket_store_free(&store));
    test_failed_write(a);
    test_checkpoints(a, b);
    OK(hocket_array_free(&a));
    OK(hocket_array_free(&b));
    OK(hocket_array_free(&c));
    OK(hocket_layout_free(&by_rows));
    OK(hocket_layout_free(&by_columns));
    OK(hocket_layout_free(&part));
}
