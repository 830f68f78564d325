/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

int rank, ranks;
long checks;

static void give_up(void) {
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void check(bool holds, const char* what, const char* file, int line) {
    ++checks;
    if (holds) return;
    fprintf(stderr, "%s:%d: rank %d of %d: not so: %s\n", file, line, rank, ranks, what);
    give_up();
}

void expect(int wanted, int got, const char* call, const char* file, int line) {
    ++checks;
    if (got == wanted) return;
    fprintf(stderr, "%s:%d: rank %d of %d: %s gave %s, not %s: %s\n", file, line, rank, ranks, call,
            hocket_error_name(got), hocket_error_name(wanted), hocket_error_message());
    give_up();
}

void says(const char* words, const char* file, int line) {
    ++checks;
    if (strstr(hocket_error_message(), words) != NULL) return;
    fprintf(stderr, "%s:%d: rank %d of %d: no '%s' in: %s\n", file, line, rank, ranks, words,
            hocket_error_message());
    give_up();
}

hocket_layout* layout_of(const char* text) {
    hocket_layout* layout = NULL;
    OK(hocket_layout_parse(text, &layout));
    return layout;
}

/* Calls `visit` with the place of each local element and its number. */
static void each(const hocket_array* array, void (*visit)(char*, double, int64_t*),
                 int64_t* count) {
    hocket_layout* layout;
    int64_t process, shape[3] = {1, 1, 1}, strides[3] = {0, 0, 0}, dimensions,
                     extent[3] = {1, 1, 1};
    int64_t* indices[3] = {NULL, NULL, NULL};
    void* data;
    OK(hocket_array_process(array, &process));
    if (process < 0) return;
    OK(hocket_array_layout(array, &layout));
    OK(hocket_array_data(array, &data));
    OK(hocket_array_strides(array, 3, strides, &dimensions));
    OK(hocket_layout_shape(layout, 3, shape, NULL));
    for (int64_t d = 0; d < dimensions; ++d) {
        OK(hocket_layout_global_indices(layout, process, d, 0, NULL, &extent[d]));
        indices[d] = malloc(sizeof(int64_t) * (size_t)(extent[d] + 1));
        OK(hocket_layout_global_indices(layout, process, d, extent[d], indices[d], NULL));
    }
    for (int64_t i = 0; i < extent[0]; ++i)
        for (int64_t j = 0; j < extent[1]; ++j)
            for (int64_t k = 0; k < extent[2]; ++k) {
                const int64_t at[3] = {i, j, k};
                int64_t index = 0, offset = 0;
                for (int64_t d = 0; d < dimensions; ++d) {
                    index = index * shape[d] + indices[d][at[d]];
                    offset += at[d] * strides[d];
                }
                visit((char*)data + offset, 1 + (double)index, count);
            }
    for (int64_t d = 0; d < dimensions; ++d) free(indices[d]);
    OK(hocket_layout_free(&layout));
}

static void put(char* place, double value, int64_t* count) {
    (void)count;
    memcpy(place, &value, sizeof value);
}
static void put_nothing(char* place, double value, int64_t* count) {
    value = -7;
    put(place, value, count);
}
static void compare(char* place, double wanted, int64_t* count) {
    double found;
    memcpy(&found, place, sizeof found);
    if (!(found == wanted)) ++*count;
}

void number(hocket_array* array) {
    each(array, put, NULL);
}

void clear(hocket_array* array) {
    each(array, put_nothing, NULL);
}

hocket_array* numbered(const hocket_layout* layout, MPI_Comm comm) {
    hocket_array* array = NULL;
    OK(hocket_array_empty(layout, "float64", 0, comm, &array));
    number(array);
    return array;
}

int64_t wrong_numbers(const hocket_array* array) {
    int64_t wrong = 0;
    each(array, compare, &wrong);
    return wrong;
}
