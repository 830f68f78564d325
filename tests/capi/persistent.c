/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests and channels: between two tasks, and of one task with itself. */
#include "check.h"

typedef struct {
    hocket_tasks* tasks;
    hocket_task_id other;
    bool sends, receives;
    MPI_Comm comm;
    hocket_layout* layout;
    hocket_array *sent, *received;
} ends;

static void start_and_wait(const ends* e, hocket_request* out, hocket_request* in, bool named) {
    if (e->receives) clear(e->received);
    if (out != NULL) OK(hocket_request_start(out, named ? e->sent : NULL));
    if (in != NULL) OK(hocket_request_start(in, named ? e->received : NULL));
    if (out != NULL) OK(hocket_request_wait(out, 60, NULL));
    if (in != NULL) {
        hocket_status* status = NULL;
        int tag;
        OK(hocket_request_wait(in, 60, &status));
        OK(hocket_status_tag(status, &tag));
        CHECK(tag == 5);
        OK(hocket_status_free(&status));
        CHECK(wrong_numbers(e->received) == 0);
    }
}

static void test_requests(const ends* e) {
    hocket_request *out = NULL, *in = NULL, *of_layout[2] = {NULL, NULL};
    bool persistent = false;
    const hocket_init_options ten_times = {.tag = 5, .count = 10, .strategy = "auto"};
    const hocket_init_options any = {.tag = 5, .layout = e->layout};
    const hocket_init_options any_once = {.tag = 5, .count = 1, .layout = e->layout};
    if (e->sends) {
        OK(hocket_tasks_send_init(e->tasks, e->sent, e->other, &ten_times, &out));
        OK(hocket_tasks_send_init(e->tasks, NULL, e->other, &any, &of_layout[0]));
        OK(hocket_request_persistent(out, &persistent));
        CHECK(persistent);
        FAILS(HOCKET_ERR_ERROR, hocket_request_start(of_layout[0], NULL));
        SAYS("name an array");
    }
    if (e->receives) {
        OK(hocket_tasks_recv_init(e->tasks, e->received, e->other, INIT_TAG(5), &in));
        OK(hocket_tasks_recv_init(e->tasks, NULL, e->other, &any_once, &of_layout[1]));
    }
    for (int round = 0; round < 4; ++round) start_and_wait(e, out, in, round % 2 == 1);
    for (int round = 0; round < 4; ++round) start_and_wait(e, of_layout[0], of_layout[1], true);
    int64_t elements = 0; /* a process without any is done at once */
    int process;
    MPI_Comm_rank(e->comm, &process);
    OK(hocket_layout_local_elements(e->layout, process, &elements));
    if (in != NULL) OK(hocket_request_start(in, NULL));
    if (in != NULL && elements > 0) {
        FAILS(HOCKET_ERR_ERROR, hocket_request_start(in, NULL));
        SAYS("under way");
        FAILS(HOCKET_ERR_ERROR, hocket_request_free(&in));
        SAYS("under way");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (out != NULL) {
        OK(hocket_request_start(out, NULL));
        OK(hocket_request_wait(out, 60, NULL));
        OK(hocket_request_free(&out));
        OK(hocket_request_free(&of_layout[0]));
    }
    if (in != NULL) {
        OK(hocket_request_wait(in, 60, NULL));
        OK(hocket_request_free(&in));
        OK(hocket_request_free(&of_layout[1]));
    }
    CHECK(in == NULL && out == NULL);
}

static void test_channel(const ends* e) {
    hocket_channel* channel = NULL;
    const char* name;
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_channel(e->tasks, "", e->other, NULL, &channel));
    if (e->sends && e->receives) {  // what passes through a channel is waited for
        FAILS(HOCKET_ERR_ERROR,
              hocket_tasks_channel(e->tasks, "numbers", e->other, NULL, &channel));
        SAYS("cannot block on itself");
        return;
    }
    OK(hocket_tasks_channel(e->tasks, "numbers", e->other, NULL, &channel));
    OK(hocket_channel_name(channel, &name));
    CHECK(strcmp(name, "numbers") == 0);
    if (e->sends && !e->receives) {
        OK(hocket_channel_send(channel, e->sent, 60));
        OK(hocket_channel_send(channel, e->sent, 60));
        OK(hocket_channel_close(channel, 60));
        FAILS(HOCKET_ERR_ERROR, hocket_channel_send(channel, e->sent, 60));
        SAYS("closed");
        FAILS(HOCKET_ERR_ERROR, hocket_channel_refuse(channel, true, HOCKET_ERR_ERROR, "why", 60));
        SAYS("why");
    } else if (e->receives && !e->sends) {
        for (int i = 0; i < 2; ++i) {
            clear(e->received);
            OK(hocket_channel_recv(channel, e->received, 60, NULL));
            CHECK(wrong_numbers(e->received) == 0);
        }
        FAILS(HOCKET_ERR_END_OF_STREAM, hocket_channel_recv(channel, e->received, 60, NULL));
        SAYS("numbers");
    }
    OK(hocket_channel_free(&channel));
    CHECK(channel == NULL);
}

// Frames are numbered; what `resume` names is skipped.
static void test_kept_channel(const ends* e) {
    hocket_channel* channel = NULL;
    int64_t count = -1;
    if (e->sends == e->receives) return;
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_channel(e->tasks, "kept", e->other,
                                                 &(hocket_channel_options){.keep = -1}, &channel));
    OK(hocket_tasks_channel(e->tasks, "kept", e->other,
                            &(hocket_channel_options){.keep = 2, .resume = e->receives, .last = 1},
                            &channel));
    if (e->sends) {
        for (int i = 0; i < 3; ++i) OK(hocket_channel_send(channel, e->sent, 60));
        OK(hocket_channel_sent(channel, &count));
        CHECK(count == 3);
        OK(hocket_channel_close(channel, 60));
    } else {
        for (int i = 0; i < 2; ++i) {
            clear(e->received);
            OK(hocket_channel_recv(channel, e->received, 60, NULL));
            CHECK(wrong_numbers(e->received) == 0);
        }
        OK(hocket_channel_received(channel, &count));
        CHECK(count == 3);
        FAILS(HOCKET_ERR_END_OF_STREAM, hocket_channel_recv(channel, e->received, 60, NULL));
    }
    OK(hocket_channel_free(&channel));
}

// A receiver that comes late gets the last array.
static void test_latest(const ends* e) {
    const hocket_channel_options latest = {.backpressure = "latest"};
    hocket_channel* channel = NULL;
    if (e->sends == e->receives) return;
    FAILS(HOCKET_ERR_ERROR,
          hocket_tasks_channel(e->tasks, "latest", e->other,
                               &(hocket_channel_options){.backpressure = "every 0"}, &channel));
    SAYS("every 0");
    OK(hocket_tasks_channel(e->tasks, "latest", e->other, &latest, &channel));
    if (e->sends) {
        for (int i = 0; i < 3; ++i) OK(hocket_channel_send(channel, e->sent, 60));
        OK(hocket_tasks_send(e->tasks, 1, &e->sent, e->other, NULL, 60));
        OK(hocket_channel_close(channel, 60));
    } else {
        OK(hocket_tasks_recv(e->tasks, 1, &e->received, e->other, NULL, 60, NULL));
        clear(e->received);
        OK(hocket_channel_recv(channel, e->received, 60, NULL));
        CHECK(wrong_numbers(e->received) == 0);
        FAILS(HOCKET_ERR_END_OF_STREAM, hocket_channel_recv(channel, e->received, 60, NULL));
    }
    OK(hocket_channel_free(&channel));
}

static void test_layout(const char* pattern, ends e) {
    char text[100];
    int size;
    MPI_Comm_size(e.comm, &size);
    snprintf(text, sizeof text, pattern, size);
    e.layout = layout_of(text);
    e.sent = numbered(e.layout, e.comm);
    e.received = numbered(e.layout, e.comm);
    test_requests(&e);
    test_channel(&e);
    test_kept_channel(&e);
    test_latest(&e);
    OK(hocket_array_free(&e.sent));
    OK(hocket_array_free(&e.received));
    OK(hocket_layout_free(&e.layout));
}

void test_persistent(void) {
    const bool alone = ranks == 1, left = rank < ranks / 2;
    const hocket_task_request requests[2] = {{"left", alone ? 1 : ranks / 2, NULL},
                                             {"right", ranks - ranks / 2, NULL}};
    ends e = {NULL,          hocket_task_at(alone || !left ? 0 : 1),
              alone || left, alone || !left,
              MPI_COMM_NULL, NULL,
              NULL,          NULL};
    OK(hocket_tasks_make(alone ? 1 : 2, requests, MPI_COMM_WORLD, &e.tasks));
    OK(hocket_tasks_comm(e.tasks, &e.comm));
    test_layout(left ? "(3, 2) (BLOCK, *) @ (%d)" : "(3, 2) (*, CYCLIC) @ (%d)", e);
    test_layout(left ? "(90, 40) (BLOCK, *) @ (%d)" : "(90, 40) (*, CYCLIC) @ (%d)", e);
    test_layout(left ? "(300, 200) (BLOCK, *) @ (%d)" : "(300, 200) (*, CYCLIC) @ (%d)", e);
    OK(hocket_tasks_free(&e.tasks));
}
