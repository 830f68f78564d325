/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans ready to run. */
#include "check.h"

static hocket_layout *from, *to;
static hocket_array *source, *destination;

static void test_starts(hocket_transfer* transfer) {
    hocket_operation* operation = NULL;
    hocket_flow* flow = NULL;
    bool done = false;
    for (int start = 0; start < 4; ++start) {
        clear(destination);
        OK(hocket_transfer_start(transfer, source, destination));
        if (start % 2 == 0) {
            OK(hocket_transfer_operation(transfer, &operation));
            OK(hocket_operation_wait(operation, 60));
            OK(hocket_operation_free(&operation));
        }
        OK(hocket_transfer_wait(transfer, 60));
        CHECK(wrong_numbers(destination) == 0);
    }
    clear(destination);
    OK(hocket_transfer_start_later(transfer, source, destination, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_operation_free(&operation));
    CHECK(wrong_numbers(destination) == 0);
    clear(destination);
    OK(hocket_flow_make(NULL, &flow));
    OK(hocket_flow_transfer(flow, transfer, source, destination, 0));
    OK(hocket_flow_wait(flow, 60));
    CHECK(wrong_numbers(destination) == 0);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_transfer(flow, NULL, source, destination, 0));
    OK(hocket_flow_free(&flow));
    OK(hocket_transfer_start(transfer, source, destination));
    while (!done) OK(hocket_transfer_test(transfer, &done));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_test(transfer, NULL));
}

/* The last process cannot start: those that receive from it learn why. */
static void test_refused(hocket_transfer* transfer) {
    hocket_operation* none = NULL;
    const bool last = rank == ranks - 1;
    for (int how = 0; how < 3; ++how) {
        if (last) {
            if (how == 0)
                FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_start(transfer, source, NULL));
            else if (how == 1)
                FAILS(HOCKET_ERR_LAYOUT,
                      hocket_transfer_refuse(transfer, HOCKET_ERR_LAYOUT, "not today"));
            else
                FAILS(HOCKET_ERR_MISMATCH, hocket_transfer_start(transfer, destination, source));
            FAILS(HOCKET_ERR_ERROR, hocket_transfer_wait(transfer, 60));
            SAYS("not started");
        } else {
            const int wanted[] = {HOCKET_ERR_ARGUMENT, HOCKET_ERR_LAYOUT, HOCKET_ERR_MISMATCH};
            OK(hocket_transfer_start(transfer, source, destination));
            FAILS(wanted[how], hocket_transfer_wait(transfer, 60));
            SAYS(how == 1 ? "not today" : "could not start");
        }
    }
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_refuse(transfer, 12345, "no such code"));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_refuse(transfer, HOCKET_ERR_ERROR, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_operation(transfer, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_start_later(transfer, source, destination, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_iredistribute(source, destination, NULL, NULL));
    CHECK(none == NULL);
}

static int never(void* context, bool* done) {
    (void)context;
    *done = false;
    return 0;
}

static int fails(void* context, bool* done) {
    (void)context;
    (void)done;
    return 7;
}

/* As a function of Fortran, whose calls count from 1 and end with 0. */
static int counts_from_zero(void* context, bool* done) {
    int64_t owner;
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_owner(context, (const int64_t[2]){99, 0}, &owner));
    SAYS("(99, 0)");
    OK(hocket_first_index_set(1));
    OK(hocket_first_index_set(0));
    *done = true;
    return 0;
}

static void test_numbers_of_a_poll(void) {
    hocket_operation* counting = NULL;
    int64_t owner;
    OK(hocket_operation_make(counts_from_zero, "counts", from, &counting));
    OK(hocket_first_index_set(1));
    OK(hocket_operation_wait(counting, 60));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_owner(from, (const int64_t[2]){99, 0}, &owner));
    OK(hocket_first_index_set(0));
    SAYS("(100, 1)");
    OK(hocket_operation_free(&counting));
}

static void test_first_of(void) {
    hocket_operation* all[2] = {NULL, NULL};
    int64_t index = -1;
    OK(hocket_operation_make(never, "never", NULL, &all[0]));
    FAILS(HOCKET_ERR_DEADLINE, hocket_operation_wait_any(1, all, 0, &index));
    FAILS(HOCKET_ERR_ERROR, hocket_operation_wait_any(0, all, 60, &index));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_operation_wait_any(2, all, 60, &index));
    CHECK(index == -1);
    clear(destination);
    OK(hocket_iredistribute(source, destination, NULL, &all[1]));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_operation_wait_any(2, all, 60, NULL));
    OK(hocket_operation_wait_any(2, all, 60, &index));
    CHECK(index == 1 && wrong_numbers(destination) == 0);
    OK(hocket_operation_free(&all[1]));
    OK(hocket_operation_make(fails, "one that fails", NULL, &all[1]));
    OK(hocket_operation_wait_any(2, all, 60, &index));
    CHECK(index == 1);
    FAILS(HOCKET_ERR_ERROR, hocket_operation_wait(all[1], 60));
    SAYS("returned 7");
    OK(hocket_operation_free(&all[0]));
    OK(hocket_operation_free(&all[1]));
}

void test_transfer(void) {
    char text[64];
    hocket_transfer *transfer = NULL, *none = NULL;
    hocket_transfer_options options = {0};
    hocket_operation* started = NULL;
    snprintf(text, sizeof text, "(72, 7) (BLOCK, *) @ (%d)", ranks);
    from = layout_of(text);
    snprintf(text, sizeof text, "(72, 7) (CYCLIC, *) @ (%d)", ranks);
    to = layout_of(text);
    source = numbered(from, MPI_COMM_WORLD);
    destination = numbered(to, MPI_COMM_WORLD);
    options.strategy = "direct";
    OK(hocket_transfer_make(from, to, NULL, 0, MPI_COMM_WORLD, &options, 60, &transfer));
    test_starts(transfer);
    if (ranks > 1) test_refused(transfer);
    test_starts(transfer);
    OK(hocket_transfer_free(&transfer));
    CHECK(transfer == NULL);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_free(&transfer));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_wait(transfer, 60));
    clear(destination);
    OK(hocket_iredistribute(source, destination, &options, &started));
    OK(hocket_operation_wait(started, 60));
    OK(hocket_operation_free(&started));
    CHECK(wrong_numbers(destination) == 0);
    test_first_of();
    test_numbers_of_a_poll();
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_make(from, rank == 0 ? NULL : to, "float64", 0,
                                                    MPI_COMM_WORLD, NULL, 60, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_transfer_make(from, to, rank == 0 ? "mine" : "float64", 0,
                                                    MPI_COMM_WORLD, NULL, 60, &none));
    OK(hocket_transfer_make_fortran(from, to, "float64", 0, MPI_Comm_c2f(MPI_COMM_WORLD), NULL, 60,
                                    &transfer));
    FAILS(HOCKET_ERR_ERROR, hocket_transfer_wait(transfer, 60));
    OK(hocket_transfer_free(&transfer));
    OK(hocket_array_free(&source));
    OK(hocket_array_free(&destination));
    OK(hocket_layout_free(&from));
    OK(hocket_layout_free(&to));
}
