/* SPDX-License-Identifier: BSD-3-Clause */
/* Several arrays as one message: one task alone, which sends to itself; and two. */
#include "check.h"

static hocket_layout* over(const char* pattern, int size) {
    char text[100];
    snprintf(text, sizeof text, pattern, size);
    return layout_of(text);
}

static const char* const ways[2][3] = {
    {"(11, 6) (BLOCK, *) @ (%d)", "(40) (CYCLIC) @ (%d)", "(100, 90) (*, BLOCK) @ (%d)"},
    {"(11, 6) (*, CYCLIC(2)) @ (%d)", "(40) (BLOCK) @ (%d)", "(100, 90) (BLOCK, *) @ (%d)"}};

static void test_status_of_three(hocket_status* status, int senders) {
    int64_t count, itemsize;
    const char* dtype;
    hocket_layout* layout = NULL;
    bool equal;
    OK(hocket_status_count(status, &count));
    CHECK(count == 3);
    for (int i = 0; i < 3; ++i) {
        hocket_layout* expected = over(ways[0][i], senders);
        OK(hocket_status_layout_at(status, i, &layout));
        OK(hocket_layout_equal(layout, expected, &equal));
        CHECK(equal);
        OK(hocket_layout_free(&expected));
        OK(hocket_layout_free(&layout));
        OK(hocket_status_dtype_at(status, i, &dtype, &itemsize));
        CHECK(strcmp(dtype, "float64") == 0 && itemsize == 8);
    }
    FAILS(HOCKET_ERR_ARGUMENT, hocket_status_layout_at(status, 3, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_status_dtype_at(status, -1, &dtype, &itemsize));
    OK(hocket_status_free(&status));
}

/* `sends` and `receives`: what this process's task does; it has `size` processes. */
static void exchange(hocket_tasks* tasks, MPI_Comm comm, int size, int senders,
                     hocket_task_id other, bool sends, bool receives) {
    hocket_array *out[3], *in[3];
    hocket_request* requests[2] = {NULL, NULL};
    hocket_status* status = NULL;
    for (int i = 0; i < 3; ++i) {
        hocket_layout *from = over(ways[0][i], size), *to = over(ways[1][i], size);
        out[i] = numbered(from, comm);
        in[i] = numbered(to, comm);
        clear(in[i]);
        OK(hocket_layout_free(&from));
        OK(hocket_layout_free(&to));
    }
    hocket_array* const sent[3] = {out[0], out[1], out[2]};
    const hocket_sendrecv_options twos = {.send_tag = 2, .receive_tag = 2};
    if (sends && receives) {
        OK(hocket_tasks_isend(tasks, 3, sent, other, TAG(1), &requests[0]));
        OK(hocket_tasks_irecv(tasks, 3, in, other, TAG(1), &requests[1]));
        OK(hocket_request_wait(requests[0], 60, NULL));
        OK(hocket_request_wait(requests[1], 60, &status));
        for (int i = 0; i < 2; ++i) OK(hocket_request_free(&requests[i]));
        test_status_of_three(status, senders);
        for (int i = 0; i < 3; ++i) {
            CHECK(wrong_numbers(in[i]) == 0);
            clear(in[i]);
        }
        OK(hocket_tasks_sendrecv(tasks, 3, sent, other, 3, in, other, &twos, 60, &status));
        test_status_of_three(status, senders);
    } else if (sends) {
        OK(hocket_tasks_send(tasks, 3, sent, other, TAG(1), 60));
        FAILS(HOCKET_ERR_MISMATCH, hocket_tasks_send(tasks, 2, sent, other, TAG(2), 60));
        SAYS("2 arrays");
        FAILS(HOCKET_ERR_ERROR, hocket_tasks_send(tasks, 0, NULL, other, TAG(3), 60));
        SAYS("empty list");
    } else {
        OK(hocket_tasks_recv(tasks, 3, in, other, TAG(1), 60, &status));
        test_status_of_three(status, senders);
        FAILS(HOCKET_ERR_MISMATCH, hocket_tasks_recv(tasks, 3, in, other, TAG(2), 60, NULL));
        SAYS("3 arrays");
    }
    for (int i = 0; i < 3; ++i) {
        if (receives) CHECK(wrong_numbers(in[i]) == 0);
        OK(hocket_array_free(&out[i]));
        OK(hocket_array_free(&in[i]));
    }
}

void test_many(void) {
    const hocket_task_request alone = {"all", ranks, NULL};
    hocket_tasks* tasks = NULL;
    MPI_Comm comm;
    OK(hocket_tasks_make(1, &alone, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_comm(tasks, &comm));
    exchange(tasks, comm, ranks, ranks, hocket_task_at(0), true, true);
    OK(hocket_tasks_free(&tasks));
    if (ranks < 2) return;
    const int half = ranks / 2;
    const hocket_task_request both[2] = {{"left", half, NULL}, {"right", ranks - half, NULL}};
    const bool left = rank < half;
    OK(hocket_tasks_make(2, both, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_comm(tasks, &comm));
    exchange(tasks, comm, left ? half : ranks - half, half, hocket_task_at(left ? 1 : 0), left,
             !left);
    OK(hocket_tasks_free(&tasks));
}
