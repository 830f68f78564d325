/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: one alone, and two that exchange arrays. */
#include "check.h"

static hocket_layout* over(const char* pattern, MPI_Comm comm) {
    char text[100];
    int size;
    MPI_Comm_size(comm, &size);
    snprintf(text, sizeof text, pattern, size);
    return layout_of(text);
}

/* The same by a strategy, in pieces, and the messages of it counted. */
static void test_travel(hocket_tasks* tasks, hocket_array* sent, hocket_array* received,
                        hocket_request** pair) {
    const hocket_message_options staged = {
        .tag = 4, .strategy = "staged", .stages = 1, .pieces = 2};
    const hocket_message_options wrong = {.tag = 4, .strategy = "teleport"};
    const hocket_message_options later = {.later = true}, garbage = {.reserved = {0, 0, 1}};
    hocket_message_counts before, after;
    int64_t pieces = 0, dimension = -1, first = -1, last = -1;
    clear(received);
    OK(hocket_transfer_counts(&before));
    OK(hocket_tasks_isend(tasks, 1, &sent, hocket_task_at(0), &staged, &pair[0]));
    OK(hocket_tasks_irecv(tasks, 1, &received, hocket_task_at(0), TAG(4), &pair[1]));
    OK(hocket_request_pieces(pair[1], 60, &pieces));
    CHECK(pieces == 2);
    OK(hocket_request_wait_piece(pair[1], 1, 60, &dimension, &first, &last));
    CHECK((dimension == 0 && first == 4 && last == 9) || (dimension == 1 && first == 2));
    FAILS(HOCKET_ERR_ERROR, hocket_request_wait_piece(pair[1], 2, 60, NULL, NULL, NULL));
    OK(hocket_request_wait_all(2, pair, 60, NULL));
    CHECK(wrong_numbers(received) == 0);
    OK(hocket_transfer_counts(&after));
    /* Other processes may hold none of the rows, or none of the columns. */
    CHECK(rank != 0 || (after.sent > before.sent && after.received > before.received));
    FAILS(HOCKET_ERR_ERROR,
          hocket_tasks_recv(tasks, 1, &received, hocket_task_at(0), &wrong, 60, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_send(tasks, 1, &sent, hocket_task_at(0), &wrong, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_send(tasks, 1, &sent, hocket_task_at(0), &later, 60));
    SAYS("cannot begin later");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_send(tasks, 1, &sent, hocket_task_at(0), &garbage, 60));
    SAYS("initialise the struct");
    for (int i = 0; i < 2; ++i) OK(hocket_request_free(&pair[i]));
}

/* Of one task with itself: all but the agreement among several. */
static void test_collectives(hocket_tasks* tasks, hocket_array* sent, hocket_array* received) {
    const hocket_task_id root = hocket_task_at(0);
    OK(hocket_tasks_barrier(tasks, 60));
    OK(hocket_tasks_bcast(tasks, sent, root, 60));
    clear(received);
    OK(hocket_tasks_allreduce(tasks, sent, received, "max", 60));
    CHECK(wrong_numbers(received) == 0);
    clear(received);
    OK(hocket_tasks_reduce(tasks, sent, received, "add", root, 60));
    CHECK(wrong_numbers(received) == 0);
    clear(received);
    OK(hocket_tasks_gather(tasks, sent, 1, &received, root, 60));
    CHECK(wrong_numbers(received) == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_reduce(tasks, sent, NULL, "add", root, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_allreduce(tasks, sent, received, "and", 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_allreduce(tasks, sent, received, NULL, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_allreduce(tasks, sent, NULL, "add", 60));
    FAILS(HOCKET_ERR_MISMATCH, hocket_tasks_gather(tasks, sent, 0, NULL, root, 60));
}

/* A task that sends to itself, and one whose processes are in two tasks. */
static void test_one(void) {
    int* everyone = malloc(sizeof(int) * (size_t)ranks);
    for (int i = 0; i < ranks; ++i) everyone[i] = i;
    const hocket_task_request requests[2] = {{"a", ranks, everyone}, {"b", ranks, everyone}};
    const hocket_task_request alone = {"all", ranks, NULL};
    hocket_tasks *tasks = NULL, *view = NULL;
    hocket_request* pair[2] = {NULL, NULL};
    hocket_status* statuses[2] = {NULL, NULL};
    const char* name;
    MPI_Comm comm;
    int value;

    OK(hocket_tasks_make(2, requests, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_name(tasks, &name));
    CHECK(name == NULL); /* in several */
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_rank(tasks, &value));
    OK(hocket_tasks_task(tasks, hocket_task_named("b"), &view));
    OK(hocket_tasks_name(view, &name));
    CHECK(strcmp(name, "b") == 0);
    OK(hocket_tasks_rank(view, &value));
    CHECK(value == 1);
    OK(hocket_tasks_free(&view));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_task(tasks, hocket_task_at(2), &view));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_task(tasks, hocket_task_named(NULL), &view));
    OK(hocket_tasks_free(&tasks));

    OK(hocket_tasks_make(1, &alone, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_comm(tasks, &comm));
    hocket_layout* rows = over("(9, 4) (BLOCK, *) @ (%d)", comm);
    hocket_layout* columns = over("(9, 4) (*, CYCLIC) @ (%d)", comm);
    hocket_array *sent = numbered(rows, comm), *received = NULL;
    OK(hocket_array_empty(columns, "float64", 0, comm, &received));
    clear(received);
    OK(hocket_tasks_isend(tasks, 1, &sent, hocket_task_at(0), TAG(3), &pair[0]));
    OK(hocket_tasks_irecv(tasks, 1, &received, hocket_any_task(), TAG(HOCKET_ANY_TAG), &pair[1]));
    OK(hocket_request_wait_all(2, pair, 60, statuses));
    CHECK(wrong_numbers(received) == 0);
    OK(hocket_status_tag(statuses[1], &value));
    CHECK(value == 3);
    for (int i = 0; i < 2; ++i) {
        OK(hocket_request_free(&pair[i]));
        OK(hocket_status_free(&statuses[i]));
    }
    test_travel(tasks, sent, received, pair);
    test_collectives(tasks, sent, received);
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_send(tasks, 1, &sent, hocket_task_at(0), NULL, -1));
    OK(hocket_array_free(&sent));
    OK(hocket_array_free(&received));
    OK(hocket_layout_free(&rows));
    OK(hocket_layout_free(&columns));
    OK(hocket_tasks_free(&tasks));
    free(everyone);
}

static void test_status(hocket_status* status, int tag, const hocket_layout* layout) {
    int value;
    int64_t itemsize;
    const char* text;
    bool equal;
    hocket_layout* theirs;
    OK(hocket_status_source(status, &value));
    CHECK(value == 0);
    OK(hocket_status_source_name(status, &text));
    CHECK(strcmp(text, "left") == 0);
    OK(hocket_status_tag(status, &value));
    CHECK(value == tag);
    OK(hocket_status_dtype(status, &text, &itemsize));
    CHECK(strcmp(text, "float64") == 0 && itemsize == 8);
    OK(hocket_status_layout(status, &theirs));
    if (layout != NULL) {
        OK(hocket_layout_equal(layout, theirs, &equal));
        CHECK(equal);
    }
    OK(hocket_layout_free(&theirs));
    OK(hocket_status_free(&status));
    CHECK(status == NULL);
}

/* Errors on every process of both tasks. */
static void test_wrong(hocket_tasks* tasks, bool left, hocket_array* array, hocket_array* narrow) {
    hocket_array* nothing = NULL;
    const hocket_task_id other = hocket_task_at(left ? 1 : 0);
    hocket_tasks* none = NULL;
    hocket_status* status = NULL;
    const char* name;
    int value;
    bool found = true;
    if (left)
        FAILS(HOCKET_ERR_MISMATCH, hocket_tasks_send(tasks, 1, &array, other, TAG(8), -1));
    else
        FAILS(HOCKET_ERR_MISMATCH, hocket_tasks_recv(tasks, 1, &narrow, other, TAG(8), -1, NULL));
    SAYS("float64");
    SAYS("float32");
    SAYS("left");
    SAYS("right");
    FAILS(HOCKET_ERR_ERROR,
          hocket_tasks_send(tasks, 1, &array, hocket_task_named("rihgt"), NULL, -1));
    SAYS("rihgt");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_send(tasks, 1, &nothing, other, NULL, -1));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_refuse(tasks, "send", HOCKET_ERR_ERROR, "no more", -1));
    SAYS("no more");
    FAILS(HOCKET_ERR_DEADLINE, hocket_tasks_probe(tasks, hocket_any_task(), 9, 0.05, &status));
    OK(hocket_tasks_iprobe(tasks, other, HOCKET_ANY_TAG, &found, &status));
    CHECK(!found && status == NULL);
    FAILS(HOCKET_ERR_DEADLINE, hocket_tasks_recv(tasks, 1, &array, hocket_any_task(),
                                                 TAG(HOCKET_ANY_TAG), 0.05, &status));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_name_of(tasks, 2, &name));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_task(tasks, other, &none)); /* not in it */
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_rank(NULL, &value));
    CHECK(none == NULL);
}

static void test_two(void) {
    const hocket_task_request requests[2] = {{"left", ranks / 2, NULL},
                                             {"right", ranks - ranks / 2, NULL}};
    const hocket_task_request wrong[2] = {{"left", 1, NULL}, {"right", ranks, NULL}};
    const hocket_profile more = {0, 2, 0, 0, 0, 0};
    const bool left = rank < ranks / 2;
    const hocket_task_id other = hocket_task_named(left ? "right" : "left");
    hocket_profile profile;
    hocket_tasks* tasks = NULL;
    hocket_status* status = NULL;
    hocket_request* all[3] = {NULL, NULL, NULL};
    hocket_operation* operation = NULL;
    hocket_array *array = NULL, *narrow = NULL;
    hocket_layout *layout, *theirs = layout_of("(11, 6) (*, BLOCK) @ (1)");
    MPI_Comm comm;
    int value;
    int64_t index;
    const char* name;
    bool flag = false;

    FAILS(HOCKET_ERR_ERROR, hocket_tasks_make(2, wrong, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_make(2, requests, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_size(tasks, &value));
    CHECK(value == 2);
    OK(hocket_tasks_rank(tasks, &value));
    CHECK(value == (left ? 0 : 1));
    OK(hocket_tasks_name_of(tasks, 1, &name));
    CHECK(strcmp(name, "right") == 0);
    OK(hocket_tasks_comm(tasks, &comm));
    layout = over(left ? "(11, 6) (BLOCK, *) @ (%d)" : "(11, 6) (*, CYCLIC(2)) @ (%d)", comm);
    array = numbered(layout, comm);
    OK(hocket_array_empty(layout, "float32", 0, comm, &narrow));
    if (!left) clear(array);

    if (left) {
        OK(hocket_tasks_send(tasks, 1, &array, other, TAG(4), 60));
    } else {
        OK(hocket_tasks_probe(tasks, hocket_any_task(), HOCKET_ANY_TAG, 60, &status));
        test_status(status, 4, NULL);
        OK(hocket_tasks_recv(tasks, 1, &array, other, TAG(HOCKET_ANY_TAG), 60, &status));
        test_status(status, 4, NULL);
    }
    CHECK(wrong_numbers(array) == 0);

    /* Two messages, taken in the other order by their tags; the third by polling. */
    for (int i = 0; i < 3; ++i) {
        const int tag = left ? i : 2 - i;
        if (left)
            OK(hocket_tasks_isend(tasks, 1, &array, other, TAG(tag), &all[i]));
        else if (i < 2)
            OK(hocket_tasks_recv(tasks, 1, &array, other, TAG(tag), 60, NULL));
        else
            OK(hocket_tasks_irecv(tasks, 1, &array, other, TAG(tag), &all[0]));
    }
    if (left) {
        OK(hocket_request_operation(all[1], &operation));
        OK(hocket_operation_wait(operation, 60));
        OK(hocket_operation_free(&operation));
        OK(hocket_request_wait_any(2, all + 1, 60, &index));
        CHECK(index == 0);
        OK(hocket_request_wait(all[2], 60, NULL));
        OK(hocket_request_wait(all[0], 60, NULL));
    } else {
        FAILS(HOCKET_ERR_ARGUMENT, hocket_request_test(all[0], NULL));
        while (!flag) OK(hocket_request_test(all[0], &flag));
        OK(hocket_request_status(all[0], &status));
        test_status(status, 0, NULL);
    }
    for (int i = 0; i < 3; ++i)
        if (all[i] != NULL) OK(hocket_request_free(&all[i]));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait_all(1, all, 60, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_request_wait_any(0, NULL, 60, &index));
    CHECK(wrong_numbers(array) == 0);

    /* Both at once. */
    hocket_array* came = NULL;
    const hocket_sendrecv_options sixes = {.send_tag = 6, .receive_tag = 6};
    OK(hocket_array_empty(layout, "float64", 0, comm, &came));
    clear(came);
    OK(hocket_tasks_sendrecv(tasks, 1, &array, other, 1, &came, other, &sixes, 60, NULL));
    CHECK(wrong_numbers(came) == 0);
    test_wrong(tasks, left, array, narrow);
    CHECK(wrong_numbers(array) == 0);
    OK(hocket_tasks_profile(tasks, &profile));
    CHECK(profile.descriptor > 0 && profile.call < 2);
    OK(hocket_tasks_add_to_profile(tasks, &more));
    OK(hocket_tasks_profile(tasks, &profile));
    CHECK(profile.call >= 2);
    OK(hocket_array_free(&came));
    OK(hocket_array_free(&array));
    OK(hocket_array_free(&narrow));
    OK(hocket_layout_free(&layout));
    OK(hocket_layout_free(&theirs));
    OK(hocket_tasks_free(&tasks));
}

void test_tasks(void) {
    test_one();
    if (ranks > 1) test_two();
}
