/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays and how they move between layouts. */
#include "check.h"

static char* format(const char* pattern) {
    static char text[2][100];
    static int turn;
    turn = 1 - turn;
    snprintf(text[turn], sizeof text[turn], pattern, ranks);
    return text[turn];
}

void test_arrays(void) {
    hocket_layout* layout = layout_of(format("(5, 3) (CYCLIC, *) @ (%d)"));
    hocket_layout *larger = layout_of("(5, 3) (BLOCK, *) @ (1000)"), *back = NULL;
    hocket_layout* huge = layout_of("(1000000000000, 10) (*, *) @ ()");
    hocket_layout* one = layout_of("(5, 3) (*, *) @ ()");
    hocket_array *array = NULL, *wrapped = NULL, *constant = NULL, *alone = NULL, *none = NULL;
    int64_t values[2], count, process, itemsize;
    const int64_t strides[2] = {-48, 16};
    double memory[60];
    const char* dtype;
    void* data;
    MPI_Comm comm;
    bool flag;
    int same;

    OK(hocket_array_empty(layout, "float64", 0, MPI_COMM_WORLD, &array));
    OK(hocket_array_local_shape(array, 2, values, &count));
    CHECK(count == 2 && values[0] == (5 - rank + ranks - 1) / ranks && values[1] == 3);
    OK(hocket_array_strides(array, 2, values, NULL));
    CHECK(values[0] == 24 && values[1] == 8);
    OK(hocket_array_dtype(array, &dtype, &itemsize));
    CHECK(strcmp(dtype, "float64") == 0 && itemsize == 8);
    OK(hocket_array_process(array, &process));
    CHECK(process == rank);
    OK(hocket_array_comm(array, &comm));
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
    CHECK(same == MPI_IDENT);
    OK(hocket_array_layout(array, &back));
    OK(hocket_layout_equal(back, layout, &flag));
    CHECK(flag);
    OK(hocket_array_writable(array, &flag));
    CHECK(flag);
    number(array);
    CHECK(wrong_numbers(array) == 0);

    /* The rows from last to first, of the middle column. */
    const hocket_slice middle[2] = {{4, 5, -1, true}, {1, 1, 1, false}};
    const hocket_slice beyond[2] = {{0, 6, 1, true}, {0, 3, 1, true}};
    OK(hocket_array_section(array, middle, &alone));
    OK(hocket_array_local_shape(alone, 2, values, &count));
    const int64_t held = values[0];
    CHECK(count == 1 && held == (5 - rank + ranks - 1) / ranks);
    OK(hocket_array_strides(alone, 2, values, NULL));
    OK(hocket_array_data(alone, &data));
    void* whole = NULL;
    OK(hocket_array_data(array, &whole));
    if (held > 1) CHECK(values[0] == -24);
    if (held > 0) CHECK((char*)data == (char*)whole + 24 * (held - 1) + 8);
    OK(hocket_array_free(&alone));
    FAILS(HOCKET_ERR_LAYOUT, hocket_array_section(array, beyond, &none));

    /* Element (4, 1), to where (0, 1) was: other processes hold neither. */
    const hocket_slice one_element[2] = {{4, 1, 1, false}, {1, 1, 1, false}};
    const hocket_slice another[2] = {{0, 1, 1, false}, {1, 1, 1, false}};
    hocket_array *copy = numbered(layout, MPI_COMM_WORLD), *place = NULL;
    OK(hocket_array_section(array, one_element, &alone));
    OK(hocket_array_section(copy, another, &place));
    OK(hocket_redistribute(alone, place, NULL, 60));
    OK(hocket_array_data(copy, &data));
    if (rank == 0) CHECK(((double*)data)[1] == 14);
    OK(hocket_array_free(&place));
    OK(hocket_array_free(&copy));
    OK(hocket_array_free(&alone));

    /* Every third element through blocks of four: places 0, 3, 5 and 10 of process 0, and
     * 2, 4, 7 and 9 of process 1. */
    if (ranks >= 2) {
        hocket_layout* blocks = layout_of("(24) (CYCLIC(4)) @ (2)");
        hocket_array* dealt = NULL;
        const hocket_slice third = {0, 8, 3, true};
        OK(hocket_array_empty(blocks, "int8", 0, MPI_COMM_WORLD, &dealt));
        if (rank < 2) {
            FAILS(HOCKET_ERR_LAYOUT, hocket_array_section(dealt, &third, &none));
            SAYS("not equally spaced");
        } else {
            OK(hocket_array_section(dealt, &third, &alone));
            OK(hocket_array_free(&alone));
        }
        OK(hocket_array_free(&dealt));
        OK(hocket_layout_free(&blocks));
    }

    /* Rows backwards, every other column. */
    OK(hocket_array_wrap(memory + 48, layout, "float64", 8, MPI_COMM_WORLD, strides, &wrapped));
    OK(hocket_array_data(wrapped, &data));
    CHECK(data == memory + 48);
    OK(hocket_array_wrap_const(memory, layout, "float64", 8, MPI_COMM_WORLD, NULL, &constant));
    OK(hocket_array_writable(constant, &flag));
    CHECK(!flag);
    OK(hocket_array_empty(one, "complex128", 0, MPI_COMM_WORLD, &alone));
    OK(hocket_array_process(alone, &process));
    CHECK(process == (rank == 0 ? 0 : -1));
    OK(hocket_array_local_shape(alone, 2, values, NULL));
    CHECK((values[0] == 5) == (rank == 0));

    if (rank == 0)
        FAILS(HOCKET_ERR_MEMORY, hocket_array_empty(huge, "float64", 0, MPI_COMM_WORLD, &none));
    OK(hocket_layout_free(&huge));
    FAILS(HOCKET_ERR_LAYOUT, hocket_array_empty(larger, "float64", 0, MPI_COMM_WORLD, &none));
    SAYS("1000");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_empty(layout, "float64", 4, MPI_COMM_WORLD, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_empty(layout, "float65", 0, MPI_COMM_WORLD, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_empty(layout, "colour", 0, MPI_COMM_WORLD, &none));
    FAILS(HOCKET_ERR_ERROR, hocket_array_empty(layout, "colour", -3, MPI_COMM_WORLD, &none));
    FAILS(HOCKET_ERR_ERROR, hocket_array_empty(layout, "int8", 0, MPI_COMM_NULL, &none));
    if (rank < 5)
        FAILS(HOCKET_ERR_ARGUMENT,
              hocket_array_wrap(NULL, layout, "int8", 0, MPI_COMM_WORLD, NULL, &none));
    if (5 - rank > ranks) { /* two rows or more */
        const int64_t far[2] = {INT64_MAX, 8};
        FAILS(HOCKET_ERR_ERROR,
              hocket_array_wrap(memory, layout, "float64", 0, MPI_COMM_WORLD, far, &none));
        SAYS("lead out of memory");
    }
    CHECK(none == NULL);

    /* Rows that are one: to read, but not to write. */
    const int64_t repeated[2] = {0, 8};
    OK(hocket_array_wrap(memory, layout, "float64", 0, MPI_COMM_WORLD, repeated, &none));
    if (ranks < 5) {
        FAILS(HOCKET_ERR_ERROR, hocket_redistribute(array, none, NULL, 60));
        SAYS("overlap");
    }
    memory[0] = 1, memory[1] = 2, memory[2] = 3;
    OK(hocket_redistribute(none, array, NULL, 60));
    OK(hocket_array_data(array, &data));
    for (int64_t k = 0; k < 3 * ((5 - rank + ranks - 1) / ranks); ++k)
        CHECK(((double*)data)[k] == k % 3 + 1);
    OK(hocket_array_free(&none));
    OK(hocket_array_free(&array));
    OK(hocket_array_free(&wrapped));
    OK(hocket_array_free(&constant));
    OK(hocket_array_free(&alone));
    OK(hocket_layout_free(&layout));
    OK(hocket_layout_free(&larger));
    OK(hocket_layout_free(&one));
    OK(hocket_layout_free(&back));
}

/* Into the middle of memory full of guard bytes, in every pair of these layouts. */
static int told;
static void listen(int level, const char* text) {
    if (level == HOCKET_LOG_DEBUG && strstr(text, "(13, 7)") != NULL) ++told;
}

void test_redistribute(void) {
    static const char* const texts[] = {"(13, 7) (BLOCK, *) @ (%d)",
                                        "(13, 7) (*, CYCLIC(3)) @ (%d)",
                                        "(13, 7) (CYCLIC, *) @ (%d)", "(13, 7) (*, *) @ ()"};
    enum { guard = 64, room = 2 * guard + 13 * 7 * 8 };
    unsigned char memory[room];
    const int64_t axes[2] = {1, 0};
    double whole[13 * 7], turned[13 * 7];
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
            hocket_layout *from = layout_of(format(texts[a])), *to = layout_of(format(texts[b]));
            hocket_array *source = numbered(from, MPI_COMM_WORLD), *destination = NULL;
            int64_t process, used = 0;
            memset(memory, 0xA5, sizeof memory);
            OK(hocket_array_wrap(memory + guard, to, "float64", 0, MPI_COMM_WORLD, NULL,
                                 &destination));
            OK(hocket_log_set(a == 0 ? listen : NULL, HOCKET_LOG_DEBUG));
            told = 0;
            OK(hocket_redistribute(source, destination, NULL, 60));
            CHECK((told > 0) == (a == 0));
            CHECK(wrong_numbers(destination) == 0);
            CHECK(wrong_numbers(source) == 0);
            OK(hocket_array_process(destination, &process));
            if (process >= 0) OK(hocket_layout_local_elements(to, process, &used));
            for (int64_t i = 0; i < room; ++i)
                if (i < guard || i >= guard + 8 * used) CHECK(memory[i] == 0xA5);
            /* Whole on the last process, and laid out again from there. */
            memset(whole, 0, sizeof whole);
            OK(hocket_gather(destination, whole, ranks - 1, 60));
            for (int i = 0; i < 13 * 7; ++i) CHECK(whole[i] == (rank == ranks - 1 ? 1 + i : 0));
            clear(source);
            OK(hocket_scatter(rank == ranks - 1 ? whole : NULL, source, ranks - 1, -1));
            CHECK(wrong_numbers(source) == 0);
            OK(hocket_array_free(&source));
            OK(hocket_array_free(&destination));
            OK(hocket_layout_free(&from));
            OK(hocket_layout_free(&to));
        }

    hocket_layout* from = layout_of(format("(13, 7) (BLOCK, *) @ (%d)"));
    hocket_layout* to = layout_of(format("(7, 13) (*, BLOCK) @ (%d)"));
    hocket_array *source = numbered(from, MPI_COMM_WORLD), *destination = NULL;
    hocket_profile profile = {0};
    hocket_transfer_options options = {0};
    hocket_cache_counts counts;
    hocket_message_counts messages;
    options.axes = axes;
    options.profile = &profile;
    options.max_buffer = 2 << 20;
    OK(hocket_array_empty(to, "float64", 0, MPI_COMM_WORLD, &destination));
    OK(hocket_redistribute(source, destination, &options, -1));
    OK(hocket_gather(destination, turned, 0, -1));
    if (rank == 0)
        for (int i = 0; i < 13; ++i)
            for (int j = 0; j < 7; ++j) CHECK(turned[13 * j + i] == 1 + 7 * i + j);
    CHECK(profile.descriptor > 0 && profile.inquiry == 0);
    OK(hocket_plan_cache_counts(&counts));
    CHECK(counts.made > 0 && counts.kept > 0);
    OK(hocket_descriptor_counts(&messages));
    CHECK(ranks == 1 || messages.sent + messages.received > 0);
    OK(hocket_array_free(&source));
    OK(hocket_array_free(&destination));
    OK(hocket_layout_free(&from));
    OK(hocket_layout_free(&to));
}

/* Wrong on one process only, an error on all of them, and the communicator stays usable. */
/* One process alone has an array whose whole has no addresses: none waits for the others. */
static void test_endless_whole(void) {
    const int64_t shape = rank == 0 ? INT64_C(3) << 59 : ranks, procs = ranks;
    double own[2] = {0};
    hocket_layout* layout = NULL;
    hocket_array* array = NULL;
    if (ranks == 1) return;
    OK(hocket_layout_make(1, &shape, "(BLOCK)", 1, &procs, 0, NULL, &layout));
    /* No call reads this. */
    void* const data = rank == 0 ? (void*)4096 : own;
    OK(hocket_array_wrap(data, layout, "float64", 8, MPI_COMM_WORLD, NULL, &array));
    for (int root = 0; root < 2; ++root) {
        FAILS(HOCKET_ERR_MEMORY, hocket_gather(array, rank == root ? own : NULL, root, 60));
        SAYS("more than 2^63 bytes");
        FAILS(HOCKET_ERR_MEMORY, hocket_scatter(rank == root ? own : NULL, array, root, 60));
        SAYS("more than 2^63 bytes");
    }
    OK(hocket_array_free(&array));
    OK(hocket_layout_free(&layout));
}

void test_refusals(void) {
    hocket_layout* rows = layout_of(format("(8, 3) (BLOCK, *) @ (%d)"));
    hocket_layout* other = layout_of(format("(3, 8) (*, BLOCK) @ (%d)"));
    hocket_array *source = numbered(rows, MPI_COMM_WORLD), *wide = numbered(other, MPI_COMM_WORLD);
    hocket_array *destination = NULL, *freed = NULL, *narrow = NULL;
    hocket_tasks* tasks = NULL;
    hocket_transfer_options unknown = {0};
    const hocket_task_request nameless = {NULL, 1, NULL}, all = {"all", ranks, NULL};
    const char* heard;
    const bool last = rank == ranks - 1;
    hocket_transfer_options scant = {0};
    unknown.strategy = "teleport";
    scant.max_buffer = 1000;
    OK(hocket_array_empty(rows, "float64", 0, MPI_COMM_WORLD, &destination));
    OK(hocket_array_empty(rows, "float32", 0, MPI_COMM_WORLD, &narrow));
    OK(hocket_array_empty(rows, "int8", 0, MPI_COMM_WORLD, &freed));
    hocket_array* const stale = freed;
    OK(hocket_array_free(&freed));
    clear(destination);

    FAILS(HOCKET_ERR_ERROR, hocket_redistribute(source, destination, last ? &scant : NULL, -1));
    SAYS("max_buffer is 1000 bytes");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_redistribute(source, last ? stale : destination, NULL, -1));
    SAYS("freed");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_redistribute(last ? NULL : source, destination, NULL, -1));
    SAYS("'array' is NULL");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_redistribute(source, destination, NULL, last ? NAN : 60));
    FAILS(HOCKET_ERR_MISMATCH, hocket_redistribute(source, last ? narrow : destination, NULL, -1));
    FAILS(HOCKET_ERR_LAYOUT, hocket_redistribute(source, wide, NULL, -1));
    FAILS(HOCKET_ERR_LAYOUT, hocket_redistribute(source, destination, &unknown, -1));
    FAILS(HOCKET_ERR_ERROR, hocket_redistribute(source, source, NULL, -1));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_gather(source, NULL, 0, -1));
    FAILS(HOCKET_ERR_ERROR, hocket_gather(source, NULL, ranks, -1));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_redistribute(stale, NULL, NULL, -1));
    if (last)
        FAILS(HOCKET_ERR_LAYOUT, hocket_refuse(MPI_COMM_WORLD, HOCKET_ERR_LAYOUT, "not so", -1));
    else
        FAILS(HOCKET_ERR_LAYOUT, hocket_redistribute(source, destination, NULL, -1));
    SAYS("not so");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_refuse(MPI_COMM_WORLD, 77, "what?", -1));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_tasks_make(1, last ? &nameless : &all, MPI_COMM_WORLD, &tasks));
    SAYS("'name' is NULL");
    CHECK(tasks == NULL);
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_from_launcher(MPI_COMM_WORLD, &tasks));
    clear(destination); /* fills it with -7 */
    {
        const int64_t start[2] = {rank, 0}, stop[2] = {rank + 1, 2}, own = ranks - 1 - rank;
        hocket_layout* made = NULL;
        int64_t count, owner, values[2];
        OK(hocket_layout_from_local_box(MPI_COMM_WORLD, 2, start, stop, NULL, 60, &made));
        OK(hocket_layout_shape(made, 2, values, &count));
        CHECK(count == 2 && values[0] == ranks && values[1] == 2);
        OK(hocket_layout_free(&made));
        OK(hocket_layout_from_local_elements(MPI_COMM_WORLD, 1, &own, 0, NULL, 60, &made));
        OK(hocket_layout_owner(made, &own, &owner));
        CHECK(owner == rank);
        OK(hocket_layout_free(&made));
        FAILS(HOCKET_ERR_LAYOUT, hocket_layout_from_local_box(MPI_COMM_WORLD, rank == 0 ? 2 : 1,
                                                              start, stop, start, 60, &made));
        FAILS(HOCKET_ERR_ERROR, hocket_layout_from_local_elements(
                                    MPI_COMM_WORLD, rank == 0 ? -1 : 1, &own, 0, NULL, 60, &made));
    }
    OK(hocket_tell(MPI_COMM_WORLD, last ? "a word" : NULL, ranks - 1, 60, &heard));
    CHECK(strcmp(heard, "a word") == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_tell(MPI_COMM_WORLD, "a word", ranks, 60, &heard));

    OK(hocket_redistribute(source, destination, NULL, 60));
    CHECK(wrong_numbers(destination) == 0);
    OK(hocket_array_free(&source));
    OK(hocket_array_free(&destination));
    OK(hocket_array_free(&narrow));
    OK(hocket_array_free(&wide));
    OK(hocket_layout_free(&rows));
    OK(hocket_layout_free(&other));
    test_endless_whole();
}
