/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may get wrong with requests and channels: every call ends, with an error that says
 * what it was, and what comes after it works. */
#include "check.h"

static hocket_array* array_of(const char* pattern, const char* dtype, MPI_Comm comm) {
    char text[100];
    int size;
    hocket_array* array = NULL;
    MPI_Comm_size(comm, &size);
    snprintf(text, sizeof text, pattern, size);
    hocket_layout* layout = layout_of(text);
    OK(hocket_array_empty(layout, dtype, 0, comm, &array));
    OK(hocket_layout_free(&layout));
    return array;
}

static void test_waits(hocket_tasks* tasks, hocket_array* array) {
    hocket_request *request = NULL, *two[2] = {NULL, NULL};
    int64_t index = -1;
    bool done = true;
    OK(hocket_tasks_irecv(tasks, 1, &array, hocket_task_at(0), TAG(77), &request));
    hocket_request* const stale = request;
    two[0] = request;
    FAILS(HOCKET_ERR_DEADLINE, hocket_request_wait(request, 0, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait(request, NAN, NULL));
    FAILS(HOCKET_ERR_DEADLINE, hocket_request_wait_any(1, two, 0, &index));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait_any(1, two, NAN, &index));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait_any(2, two, 1, &index));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait_any(-1, two, 1, &index));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait_any(1, two, 1, NULL));
    FAILS(HOCKET_ERR_DEADLINE, hocket_request_wait_all(1, two, 0, NULL));
    OK(hocket_request_wait_all(0, NULL, 0, NULL));
    OK(hocket_request_test(request, &done));
    CHECK(!done && index == -1);
    FAILS(HOCKET_ERR_ERROR, hocket_request_start(request, NULL));
    SAYS("not persistent");
    OK(hocket_request_free(&request)); /* goes on behind it */
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_free(&request));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait(stale, 1, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_test(stale, &done));
    OK(hocket_tasks_isend(tasks, 1, &array, hocket_task_at(0), TAG(77), &request));
    OK(hocket_request_wait(request, 60, NULL));
    OK(hocket_request_free(&request));
}

/* That one that is wrong from the beginning says so when it is started, or waited for. */
static void never_works(hocket_request* request, hocket_array* array, const char* words) {
    if (hocket_request_start(request, array) == HOCKET_SUCCESS)
        FAILS(HOCKET_ERR_ERROR, hocket_request_wait(request, 30, NULL));
    SAYS(words);
    OK(hocket_request_free(&request));
}

static void test_starts(hocket_tasks* tasks, hocket_array* sent, MPI_Comm comm) {
    const hocket_task_id here = hocket_task_at(0);
    hocket_request *out = NULL, *in = NULL, *wrong = NULL;
    hocket_status* status = NULL;
    hocket_array* other = array_of("(5) (CYCLIC) @ (%d)", "float64", comm);
    hocket_array* narrow = array_of("(7) (BLOCK) @ (%d)", "float32", comm);
    hocket_array* received = array_of("(7) (BLOCK) @ (%d)", "float64", comm);
    hocket_array* dead = array_of("(7) (BLOCK) @ (%d)", "float64", comm);
    hocket_array* const gone = dead;
    OK(hocket_array_free(&dead));
    OK(hocket_tasks_send_init(tasks, sent, here, INIT_TAG(3), &out));
    OK(hocket_tasks_recv_init(tasks, received, here, INIT_TAG(3), &in));
    FAILS(HOCKET_ERR_ERROR, hocket_request_wait(in, 1, NULL));
    SAYS("never started");
    FAILS(HOCKET_ERR_ERROR, hocket_request_status(in, &status));
    FAILS(HOCKET_ERR_LAYOUT, hocket_request_start(in, other));
    FAILS(HOCKET_ERR_MISMATCH, hocket_request_start(in, narrow));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_start(in, gone));
    for (int round = 0; round < 3; ++round) {
        clear(received);
        OK(hocket_request_start(out, NULL));
        OK(hocket_request_start(in, received));
        OK(hocket_request_wait(out, 60, NULL));
        OK(hocket_request_wait(in, 60, NULL));
        CHECK(wrong_numbers(received) == 0);
    }
    OK(hocket_request_free(&out));
    OK(hocket_request_free(&in));

    OK(hocket_tasks_recv_init(tasks, received, hocket_any_task(), INIT_TAG(3), &wrong));
    never_works(wrong, received, "takes no wildcard");
    OK(hocket_tasks_recv_init(tasks, received, here, INIT_TAG(HOCKET_ANY_TAG), &wrong));
    never_works(wrong, received, "no wildcard");
    OK(hocket_tasks_send_init(tasks, sent, here,
                              &(const hocket_init_options){.tag = 3, .count = -2}, &wrong));
    never_works(wrong, sent, "count is -2");
    OK(hocket_tasks_send_init(tasks, sent, hocket_task_named("nobody"), INIT_TAG(3), &wrong));
    never_works(wrong, sent, "nobody");
    OK(hocket_array_free(&other));
    OK(hocket_array_free(&narrow));
    OK(hocket_array_free(&received));
}

static void test_channels(bool left, hocket_tasks* tasks, hocket_array* array) {
    hocket_channel *channel = NULL, *none = NULL;
    const hocket_task_id other = hocket_task_at(left ? 1 : 0);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_channel(tasks, NULL, other, NULL, &none));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_channel(tasks, "c", hocket_any_task(), NULL, &none));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_channel(tasks, "c", hocket_task_at(5), NULL, &none));
    CHECK(none == NULL);
    OK(hocket_tasks_channel(tasks, "c", other, NULL, &channel));
    hocket_channel* const stale = channel;
    if (left) {
        OK(hocket_channel_send(channel, array, 60));
        OK(hocket_channel_close(channel, 60));
        FAILS(HOCKET_ERR_ERROR, hocket_channel_close(channel, 60));
        SAYS("closed before");
        FAILS(HOCKET_ERR_ERROR, hocket_channel_send(channel, array, 60));
    } else {
        clear(array);
        OK(hocket_channel_recv(channel, array, 60, NULL));
        CHECK(wrong_numbers(array) == 0);
        for (int i = 0; i < 2; ++i)
            FAILS(HOCKET_ERR_END_OF_STREAM, hocket_channel_recv(channel, array, 60, NULL));
    }
    OK(hocket_channel_free(&channel));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_channel_send(stale, array, 1));
}

void test_hostile(void) {
    const hocket_task_request all = {"all", ranks, NULL};
    const hocket_task_request sides[2] = {{"left", ranks / 2, NULL},
                                          {"right", ranks - ranks / 2, NULL}};
    hocket_tasks* tasks = NULL;
    MPI_Comm comm;
    OK(hocket_tasks_make(1, &all, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_comm(tasks, &comm));
    hocket_array* array = array_of("(7) (BLOCK) @ (%d)", "float64", comm);
    number(array);
    test_waits(tasks, array);
    test_starts(tasks, array, comm);
    OK(hocket_array_free(&array));
    OK(hocket_tasks_free(&tasks));
    if (ranks == 1) return;
    OK(hocket_tasks_make(2, sides, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_comm(tasks, &comm));
    array = array_of("(7) (BLOCK) @ (%d)", "float64", comm);
    number(array);
    test_channels(rank < ranks / 2, tasks, array);
    OK(hocket_array_free(&array));
    OK(hocket_tasks_free(&tasks));
}
