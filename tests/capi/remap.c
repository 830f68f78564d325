/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays permuted within their own memory. */
#include "check.h"

enum { guard = 64 };

/* (13, 7, 3) by (1, 0, 2) on all processes, in the middle of memory full of guard bytes. */
static void between_guards(const char* text, const int64_t* axes, const int64_t* turned) {
    char dist[100];
    hocket_layout *layout, *wanted = NULL, *back = NULL;
    hocket_array* array = NULL;
    int64_t elements = 0, bytes = 0, steps[3] = {21, 3, 1}, shape[3] = {0, 0, 0};
    unsigned char* memory;
    void* data;
    bool same;
    snprintf(dist, sizeof dist, text, ranks);
    layout = layout_of(dist);
    OK(hocket_remap_layout(layout, axes, &wanted));
    OK(hocket_layout_shape(wanted, 3, shape, NULL));
    for (int d = 0; d < 3; ++d) CHECK(shape[d] == turned[d]);
    OK(hocket_remap_room(layout, axes, rank, &elements));
    memory = malloc((size_t)(8 * elements + 2 * guard));
    memset(memory, 0xA5, (size_t)(8 * elements + 2 * guard));
    OK(hocket_array_wrap_with_room(memory + guard, 8 * elements, layout, "float64", 0,
                                   MPI_COMM_WORLD, &array));
    OK(hocket_array_room(array, &bytes));
    CHECK(bytes == 8 * elements);
    number(array);
    OK(hocket_remap_inplace(array, axes, 1 + rank % 2, 60));
    OK(hocket_array_layout(array, &back));
    OK(hocket_layout_equal(back, wanted, &same));
    CHECK(same);
    OK(hocket_array_data(array, &data));
    CHECK(data == memory + guard);
    for (int i = 0; i < guard; ++i)
        CHECK(memory[i] == 0xA5 && memory[guard + 8 * elements + i] == 0xA5);
    /* Every element is where it was, as the whole array sees it. */
    double whole[13 * 7 * 3];
    OK(hocket_gather(array, whole, 0, 60));
    for (int64_t i = 0; rank == 0 && i < turned[0]; ++i)
        for (int64_t j = 0; j < turned[1]; ++j)
            for (int64_t k = 0; k < turned[2]; ++k) {
                const int64_t from = i * steps[axes[0]] + j * steps[axes[1]] + k * steps[axes[2]];
                CHECK(whole[(i * turned[1] + j) * turned[2] + k] == 1 + (double)from);
            }
    OK(hocket_array_free(&array));
    OK(hocket_layout_free(&layout));
    OK(hocket_layout_free(&wanted));
    OK(hocket_layout_free(&back));
    free(memory);
}

void test_remap(void) {
    static const int64_t orders[4][3] = {{1, 0, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}};
    static const int64_t results[4][3] = {{7, 13, 3}, {3, 7, 13}, {7, 3, 13}, {13, 3, 7}};
    const int64_t wrong[3] = {0, 0, 1};
    hocket_layout *layout, *cyclic, *none = NULL;
    hocket_array *array = NULL, *dealt = NULL, *nothing = NULL;
    char text[100];
    int64_t room = 0, local = 0;
    double memory[1] = {0};
    for (int k = 0; k < 4; ++k) {
        between_guards("(13, 7, 3) (BLOCK, *, *) @ (%d)", orders[k], results[k]);
        between_guards("(13, 7, 3) (*, BLOCK, *) @ (%d)", orders[k], results[k]);
    }
    snprintf(text, sizeof text, "(13, 7, 3) (BLOCK, *, *) @ (%d)", ranks);
    layout = layout_of(text);
    snprintf(text, sizeof text, "(13, 7, 3) (CYCLIC(5), *, *) @ (%d)", ranks);
    cyclic = layout_of(text);
    array = numbered(layout, MPI_COMM_WORLD);
    FAILS(HOCKET_ERR_LAYOUT, hocket_remap_inplace(array, wrong, 0, 60));
    SAYS("axes");
    FAILS(HOCKET_ERR_LAYOUT, hocket_remap_layout(layout, wrong, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_remap_inplace(NULL, orders[0], 0, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_remap_inplace(array, NULL, 0, 60));
    SAYS("axes");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_remap_inplace(array, orders[0], -1, 60));
    SAYS("threads");
    FAILS(HOCKET_ERR_LAYOUT, hocket_remap_room(layout, orders[0], 1000, &room));
    dealt = numbered(cyclic, MPI_COMM_WORLD);
    FAILS(HOCKET_ERR_LAYOUT, hocket_remap_inplace(dealt, orders[0], 0, 60));
    SAYS("cyclic");
    CHECK(wrong_numbers(array) == 0);

    OK(hocket_layout_local_elements(layout, rank, &local));
    OK(hocket_array_free(&array));
    OK(hocket_array_empty_with_room(layout, "int16", 0, MPI_COMM_WORLD, 100000, &array));
    OK(hocket_array_room(array, &room));
    CHECK(room >= 100000);
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_array_empty_with_room(layout, "int16", 0, MPI_COMM_WORLD, -1, &nothing));
    if (local > 1)
        FAILS(HOCKET_ERR_ARGUMENT, hocket_array_wrap_with_room(memory, 8, layout, "float64", 0,
                                                               MPI_COMM_WORLD, &nothing));
    OK(hocket_array_free(&array));
    OK(hocket_array_free(&dealt));
    OK(hocket_layout_free(&layout));
    OK(hocket_layout_free(&cyclic));
}
