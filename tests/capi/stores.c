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
    OK(hocket_store_size(store, &count));
    CHECK(count == 2);
    OK(hocket_store_name_of(store, 0, &text));
    CHECK(strcmp(text, "run/u") == 0);
    OK(hocket_store_name_of(store, 1, &text));
    CHECK(strcmp(text, "t") == 0);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_name_of(store, 2, &text));
    SAYS("there are 2");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_name_of(store, -1, &text));
    OK(hocket_store_attributes(store, &text));
    CHECK(strcmp(text, "{\"step\":7}") == 0);
    OK(hocket_store_array_attributes(store, "t", &text));
    CHECK(strcmp(text, "{\"unit\":\"K\"}") == 0);
    OK(hocket_store_dimension_name(store, "t", 0, &text));
    CHECK(strcmp(text, "height, above the ground") == 0);
    OK(hocket_store_dimension_name(store, "t", 1, &text));
    CHECK(strcmp(text, "x") == 0);
    OK(hocket_store_dimension_name(store, "run/u", 1, &text));
    CHECK(strcmp(text, "dim_1") == 0);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_dimension_name(store, "t", 2, &text));
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
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_size(NULL, &count));
}

/* The stored elements are the numbers of a row-major array of rows by cols. */
static void test_order(hocket_store* store) {
    const int64_t order[2] = {1, 0}, twice[2] = {1, 1};
    hocket_read_options options = {.order_dimensions = 2, .order = order};
    int64_t held[cols], count;
    char text[100];
    hocket_layout* lay;
    hocket_array* turned;
    void* data;
    snprintf(text, sizeof text, "(%d, %d) (BLOCK, *) @ (%d)", cols, rows, ranks);
    lay = layout_of(text);
    turned = empty_of(lay);
    OK(hocket_store_read(store, "t", turned, &options, 60));
    OK(hocket_layout_global_indices(lay, rank, 0, cols, held, &count));
    OK(hocket_array_data(turned, &data));
    for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < rows; ++j)
            CHECK(((double*)data)[i * rows + j] == 1 + (double)(j * cols + held[i]));
    options.order = twice;
    FAILS(HOCKET_ERR_LAYOUT, hocket_store_read(store, "t", turned, &options, 60));
    SAYS("permutation");
    FAILS(HOCKET_ERR_MISMATCH, hocket_store_read(store, "t", turned, NULL, 60));
    options.order = NULL;
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_read(store, "t", turned, &options, 60));
    OK(hocket_array_free(&turned));
    OK(hocket_layout_free(&lay));
}

/* The stored float64 as float32, and as bool. */
static void test_conversion(hocket_store* store, const hocket_layout* layout) {
    const hocket_read_options as_float = {.dtype = "float32"}, as_bool = {.dtype = "bool"};
    hocket_write_options writes = {0};
    hocket_array *floats, *truths;
    void *data, *truth;
    int64_t count = 1, extents[2];
    OK(hocket_array_empty(layout, "float32", 0, MPI_COMM_WORLD, &floats));
    OK(hocket_array_empty(layout, "bool", 0, MPI_COMM_WORLD, &truths));
    OK(hocket_store_read(store, "t", floats, &as_float, 60));
    OK(hocket_store_read(store, "t", truths, &as_bool, 60));
    OK(hocket_array_data(floats, &data));
    OK(hocket_array_data(truths, &truth));
    OK(hocket_layout_local_shape(layout, rank, 2, extents, NULL));
    count = extents[0] * extents[1];
    for (int64_t i = 0; i < count; ++i)
        CHECK(((float*)data)[i] >= 1 && ((float*)data)[i] <= rows * cols && ((char*)truth)[i] == 1);
    FAILS(HOCKET_ERR_MISMATCH, hocket_store_read(store, "t", floats, NULL, 60));
    SAYS("dtype");
    FAILS(HOCKET_ERR_MISMATCH, hocket_store_read(store, "t", floats, &as_bool, 60));
    FAILS(HOCKET_ERR_MISMATCH, hocket_store_write(store, "t", floats, &writes, 60));
    OK(hocket_array_free(&floats));
    OK(hocket_array_free(&truths));
}

/* Rows from the second on go to the same rows of another array, and come back transposed. */
static void test_started_regions(hocket_store* store, hocket_array* rows_but_one) {
    const int64_t lower[2] = {1, 0}, upper[2] = {rows, cols}, order[2] = {1, 0};
    const int64_t beyond[2] = {rows + 1, cols};
    int64_t held[cols], count;
    char text[100];
    const hocket_write_options writes = {
        .lower_dimensions = 2, .lower = lower, .upper_dimensions = 2, .upper = upper};
    hocket_read_options reads = {.lower_dimensions = 2,
                                 .lower = lower,
                                 .upper_dimensions = 2,
                                 .upper = upper,
                                 .order_dimensions = 2,
                                 .order = order};
    hocket_operation* operation = NULL;
    hocket_layout* lay;
    hocket_array* turned;
    void* data;
    snprintf(text, sizeof text, "(%d, %d) (BLOCK, *) @ (%d)", cols, rows - 1, ranks);
    lay = layout_of(text);
    turned = empty_of(lay);
    OK(hocket_store_iwrite(store, "run/u", rows_but_one, &writes, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    OK(hocket_store_iread(store, "run/u", turned, &reads, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    OK(hocket_layout_global_indices(lay, rank, 0, cols, held, &count));
    OK(hocket_array_data(turned, &data));
    for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < rows - 1; ++j)
            CHECK(((double*)data)[i * (rows - 1) + j] == 1 + (double)((j + 1) * cols + held[i]));
    reads.upper = beyond;
    OK(hocket_store_iread(store, "run/u", turned, &reads, &operation));
    FAILS(HOCKET_ERR_ERROR, hocket_operation_wait(operation, 60));
    SAYS("no region");
    OK(hocket_operation_free(&operation));
    reads.lower = NULL;
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_iread(store, "run/u", turned, &reads, &operation));
    OK(hocket_array_free(&turned));
    OK(hocket_layout_free(&lay));
}

static void test_started(hocket_store* store, hocket_array* a, hocket_array* b) {
    const hocket_write_options options = {.writers = 1, .max_buffer = 48, .copy = true};
    hocket_operation* operation = NULL;
    hocket_flow* flow = NULL;
    OK(hocket_store_iwrite(store, "t", a, &options, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    OK(hocket_store_iread(store, "t", b, NULL, &operation));
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
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_iread(store, "t", b, NULL, NULL));
}

/* A file stands where writers of 's' need a folder. */
static void test_failed_write(hocket_array* a) {
    const char* const folder = "failed.zarr/t/c";
    const char* text = NULL;
    const int64_t shape[2] = {rows, cols};
    hocket_store* store = NULL;
    OK(hocket_store_open("failed.zarr", "w", MPI_COMM_WORLD, 60, &store));
    OK(hocket_store_create(store, "t", 2, shape, "float64", 0, NULL, 60));
    if (rank == 0) {
        FILE* const file = fopen(folder, "w");
        CHECK(file != NULL);
        if (file != NULL) fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    FAILS(HOCKET_ERR_ERROR, hocket_store_write(store, "t", a, NULL, 60));
    OK(hocket_store_close(store, 60));
    OK(hocket_store_free(&store));
    if (rank == 0) CHECK(remove(folder) == 0);
    OK(hocket_store_open("failed.zarr", "r+", MPI_COMM_WORLD, 60, &store));
    OK(hocket_store_unfinished(store, &text));
    CHECK(strstr(text, "whose write of 't' failed") != NULL);
    OK(hocket_store_write(store, "t", a, NULL, 60));
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
    const char* const names[2] = {"t", "u, too"};
    const char* const one[2] = {"saved", NULL};
    const hocket_save_options options = {.attributes = "{\"step\":7}", .keep = 1};
    const hocket_save_options gzip = {.attributes = "{\"step\":7}", .codec = "gzip"};
    const hocket_save_options wrong = {.attributes = "{\"a\":{}}"};
    for (int step = 0; step < 3; ++step) OK(hocket_save("saved.zarr", names, 2, out, &options, 60));
    clear(b);
    OK(hocket_load("saved.zarr", names, 2, in, 60));
    CHECK(wrong_numbers(b) == 0);
    OK(hocket_load("saved.zarr.1", names + 1, 1, in, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_load("saved.zarr.2", names, 1, in, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_save("saved.zarr", NULL, 2, out, NULL, 60));
    SAYS("'names' is NULL");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_save("saved.zarr", one, 2, out, NULL, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_save("saved.zarr", names, 0, NULL, NULL, 60));
    OK(hocket_save("saved.npy", one, 1, out, NULL, 60));
    clear(b);
    OK(hocket_load("saved.npy", one, 1, in, 60));
    CHECK(wrong_numbers(b) == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_save("saved.npy", names, 2, out, NULL, 60));
    SAYS("one array");
    if (hocket_save("saved.h5", names, 2, out, &gzip, 60) != HOCKET_SUCCESS) {
        SAYS("finds no HDF5");
        return;
    }
    clear(b);
    OK(hocket_load("saved.h5", names + 1, 1, in, 60));
    CHECK(wrong_numbers(b) == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_save("saved.h5", names, 1, out, &wrong, 60));
    SAYS("'a'");
}

void test_stores(void) {
    const int64_t shape[2] = {rows, cols}, chunks[2] = {2, 3}, shards[2] = {4, 3};
    const int64_t lower[2] = {1, 0}, upper[2] = {rows, cols}, none[2] = {0, cols};
    const int64_t one[2] = {1, cols};
    const char* const dimension_names[2] = {"height, above the ground", "x"};
    const hocket_create_options chunked = {.chunk_dimensions = 2,
                                           .chunks = chunks,
                                           .shard_dimensions = 2,
                                           .shards = shards,
                                           .codec = "none",
                                           .fill = "1.5",
                                           .attributes = "{\"unit\":\"K\"}",
                                           .named_dimensions = 2,
                                           .dimension_names = dimension_names};
    const hocket_create_options by_step = {.chunk_dimensions = 2, .chunks = one};
    const hocket_create_options half_named = {.named_dimensions = 1,
                                              .dimension_names = dimension_names};
    const hocket_write_options few = {.writers = 1, .max_buffer = 48},
                               too_little = {.max_buffer = 47};
    const hocket_read_options but_one = {
        .lower_dimensions = 2, .lower = lower, .upper_dimensions = 2, .upper = upper};
    int64_t opened = 0, reads = 0, writes = 0, bytes_read = 0, bytes_written = 0, seeks = -1;
    int64_t count, values[2];
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
    OK(hocket_store_create(store, "t", 2, shape, "float64", 0, &chunked, 60));
    FAILS(HOCKET_ERR_ERROR,
          hocket_store_create(store, "v", 2, shape, "float64", 0, &half_named, 60));
    OK(hocket_store_create(store, "run/u", 2, shape, "float64", 0, NULL, 60));
    OK(hocket_store_set_attributes(store, "{\"step\":7}", 60));
    test_facts(store);
    OK(hocket_store_write(store, "t", a, &few, 60));
    OK(hocket_store_read(store, "t", b, NULL, 60));
    CHECK(wrong_numbers(b) == 0);
    OK(hocket_store_read(store, "t", c, &but_one, 60));
    FAILS(HOCKET_ERR_MISMATCH, hocket_store_read(store, "t", c, NULL, 60));
    test_started_regions(store, c);
    test_order(store);
    test_conversion(store, by_columns);
    FAILS(HOCKET_ERR_ERROR, hocket_store_write(store, "t", a, &too_little, 60));
    SAYS("max_buffer");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_write(store, NULL, a, NULL, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_store_write(store, "t", NULL, NULL, 60));
    clear(b);
    test_started(store, a, b);
    OK(hocket_store_create(store, "s", 2, none, "float64", 0, &by_step, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_store_create(store, "t/u", 2, shape, "float64", 0, NULL, 60));
    SAYS("has an array 't'");
    OK(hocket_store_append(store, "s", a, 0, 60));
    OK(hocket_store_append(store, "s", a, 0, 60));
    OK(hocket_store_shape(store, "s", 2, values, &count));
    CHECK(count == 2 && values[0] == 2 * rows);
    OK(hocket_store_counts(&opened, &reads, &writes, &bytes_read, &bytes_written, &seeks));
    CHECK(rank > 0 || (opened > 0 && reads > 0 && bytes_read > 0));
    CHECK(rank > 0 || (writes > 0 && bytes_written > 0 && seeks > 0));
    OK(hocket_store_close(store, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_store_write(store, "t", a, NULL, 60));
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
