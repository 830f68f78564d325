/* SPDX-License-Identifier: BSD-3-Clause */
/* After MPI_Finalize every function that communicates gives a code, also with what was made before,
 * which can still be freed. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

#define ENDED(call)                    \
    do {                               \
        FAILS(HOCKET_ERR_ERROR, call); \
        SAYS("MPI has ended");         \
    } while (0)

static hocket_layout* layout;
static hocket_array *array, *other;
static hocket_halo* halo;
static hocket_tasks* tasks;
static hocket_request *waiting, *kept, *started;
static hocket_team *team, *alone;
static hocket_operation* operation;
static hocket_flow* flow;

static int start_receive(void* context, hocket_started* out) {
    hocket_request* request = NULL;
    (void)context;
    (void)out;
    return hocket_tasks_irecv(tasks, 1, &array, hocket_task_at(0), TAG(80), &request);
}

void keep_for_the_end(void) {
    const hocket_task_request all = {"all", ranks, NULL};
    const uint64_t me = (uint64_t)1 << rank;
    const int64_t width[1] = {1};
    char text[60];
    MPI_Comm comm;
    snprintf(text, sizeof text, "(%d) (BLOCK) @ (%d)", 3 * ranks, ranks);
    layout = layout_of(text);
    OK(hocket_tasks_make(1, &all, MPI_COMM_WORLD, &tasks));
    OK(hocket_tasks_comm(tasks, &comm));
    array = numbered(layout, comm);
    other = numbered(layout, comm);
    OK(hocket_halo_make(array, width, NULL, &halo));
    OK(hocket_halo_iexchange(halo, true, &operation));
    OK(hocket_tasks_irecv(tasks, 1, &array, hocket_task_at(0), TAG(77), &waiting));
    OK(hocket_tasks_send_init(tasks, other, hocket_task_at(0), INIT_TAG(78), &kept));
    OK(hocket_tasks_recv_init(tasks, array, hocket_task_at(0), INIT_TAG(79), &started));
    OK(hocket_request_start(started, NULL));
    OK(hocket_team_make(MPI_COMM_WORLD, 60, &team));
    OK(hocket_team_enqueue(team, 1, &me, &alone));
    OK(hocket_flow_make(NULL, &flow));
}

static void test_calls(void) {
    const hocket_task_request all = {"all", ranks, NULL};
    const hocket_task_id here = hocket_task_at(0);
    const int64_t axes[1] = {0};
    hocket_array* made = NULL;
    hocket_tasks* more = NULL;
    hocket_team* another = NULL;
    hocket_request* request = NULL;
    hocket_status* status = NULL;
    hocket_operation* watched = NULL;
    const char* heard;
    MPI_Comm comm;
    MPI_Request none = MPI_REQUEST_NULL;
    int number = 0;
    bool found;
    double memory[3] = {0};
    ENDED(hocket_array_empty(layout, "float64", 0, MPI_COMM_WORLD, &made));
    ENDED(hocket_array_wrap(memory, layout, "float64", 0, MPI_COMM_WORLD, NULL, &made));
    ENDED(hocket_array_comm(array, &comm));
    ENDED(hocket_array_comm_fortran(array, &number));
    ENDED(hocket_redistribute(array, other, NULL, -1));
    ENDED(hocket_scatter(memory, array, 0, -1));
    ENDED(hocket_gather(array, memory, 0, -1));
    ENDED(hocket_remap_inplace(array, axes, 0, -1));
    ENDED(hocket_refuse(MPI_COMM_WORLD, HOCKET_ERR_ERROR, "no", -1));
    ENDED(hocket_tell(MPI_COMM_WORLD, "word", 0, -1, &heard));
    ENDED(hocket_halo_exchange(halo, -1));
    ENDED(hocket_comm_world(&number));
    ENDED(hocket_comm_rank(0, &number));
    ENDED(hocket_tasks_make(1, &all, MPI_COMM_WORLD, &more));
    ENDED(hocket_tasks_make_fortran(1, &all, 0, &more));
    ENDED(hocket_tasks_from_launcher(MPI_COMM_WORLD, &more));
    ENDED(hocket_tasks_comm(tasks, &comm));
    ENDED(hocket_tasks_isend(tasks, 1, &array, here, TAG(1), &request));
    ENDED(hocket_tasks_irecv(tasks, 1, &array, here, TAG(1), &request));
    ENDED(hocket_tasks_iprobe(tasks, hocket_any_task(), 1, &found, &status));
    ENDED(hocket_tasks_bcast(tasks, array, here, -1));
    ENDED(hocket_tasks_barrier(tasks, -1));
    ENDED(hocket_tasks_send_init(tasks, array, here, INIT_TAG(1), &request));
    ENDED(hocket_team_make(MPI_COMM_WORLD, -1, &another));
    ENDED(hocket_team_make_fortran(0, -1, &another));
    ENDED(hocket_team_wait(team, -1));
    ENDED(hocket_team_reduce(team, HOCKET_ADD, HOCKET_TEAM_INT32, &number, -1, &number));
    ENDED(hocket_team_reduce(alone, HOCKET_ADD, HOCKET_TEAM_INT32, &number, -1, &number));
    ENDED(hocket_team_exit(team, 0));
    ENDED(hocket_operation_from_request_fortran(&number, &watched));
    OK(hocket_operation_watch_request(none, &watched));
    ENDED(hocket_operation_wait(watched, -1));
    OK(hocket_operation_free(&watched));
    ENDED(hocket_flow_exchange(flow, halo, 0));
    OK(hocket_flow_wait(flow, -1));
    OK(hocket_flow_comm(flow, start_receive, NULL, 0, NULL, 0, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_flow_wait(flow, -1));
}

/* A write to a connection of a process that has ended, as Open MPI makes it, ends no process; a
 * program that this one starts is ended, as ever. */
static void write_to_nobody(void) {
    int ends[2];
    struct sigaction now;
    CHECK(pipe(ends) == 0 && close(ends[0]) == 0);
    CHECK(write(ends[1], "?", 1) == -1 && errno == EPIPE);
    close(ends[1]);
    CHECK(sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler != SIG_IGN);
}

void test_ended(void) {
    write_to_nobody();
    bool done;
    int64_t index;
    test_calls();
    ENDED(hocket_operation_wait(operation, -1));
    ENDED(hocket_request_wait(waiting, -1, NULL));
    ENDED(hocket_request_test(waiting, &done));
    ENDED(hocket_request_wait_any(1, &waiting, -1, &index));
    ENDED(hocket_request_start(kept, NULL));
    ENDED(hocket_request_wait(started, -1, NULL));
    OK(hocket_operation_free(&operation));
    OK(hocket_flow_free(&flow));
    OK(hocket_request_free(&waiting));
    OK(hocket_request_free(&kept));
    OK(hocket_request_free(&started));
    OK(hocket_team_free(&alone));
    OK(hocket_team_free(&team));
    OK(hocket_halo_free(&halo));
    OK(hocket_array_free(&array));
    OK(hocket_array_free(&other));
    OK(hocket_tasks_free(&tasks));
    OK(hocket_layout_free(&layout));
}
