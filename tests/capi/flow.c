/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows: steps that compute, communicate and reduce, and what can go wrong with them. */
#include "check.h"

static int twice(void* context, void* const* parts) {
    double* x = context;
    (void)parts;
    *x = 2 * *x + 1;
    return 0;
}

static int blocks(void* context) {
    *(bool*)context = true;
    return 0;
}

static int fails(void* context, void* const* parts) {
    (void)context;
    (void)parts;
    return 7;
}

static int frees(void* context, void* const* parts) {
    (void)parts;
    FAILS(HOCKET_ERR_ERROR, hocket_flow_free((hocket_flow**)context));
    return 0;
}

static hocket_flow* outer;

static int inserts(void* context, void* const* parts) {
    hocket_access own = {HOCKET_UPDATES, NULL, context, sizeof(double), 0, NULL, NULL, NULL};
    (void)parts;
    OK(hocket_flow_task(outer, twice, context, 1, &own, 0, NULL));
    return 0;
}

static void zero(void* context, void* part, int64_t bytes) {
    (void)context;
    memset(part, 0, (size_t)bytes);
}

static void add(void* context, void* into, const void* part, int64_t bytes) {
    (void)context;
    for (int64_t i = 0; i < bytes / 8; ++i) ((double*)into)[i] += ((const double*)part)[i];
}

static int count_one(void* context, void* const* parts) {
    (void)context;
    ((double*)parts[0])[1] += 1;
    return 0;
}

typedef struct {
    double out, in;
    int tag;
} message;

static int pass_on(void* context, hocket_started* started) {
    message* m = context;
    MPI_Request requests[2];
    MPI_Isend(&m->out, 1, MPI_DOUBLE, (rank + 1) % ranks, m->tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&m->in, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, m->tag, MPI_COMM_WORLD,
              &requests[1]);
    for (int i = 0; i < 2; ++i) {
        hocket_operation* operation = NULL;
        OK(hocket_operation_from_request(&requests[i], &operation));
        OK(hocket_started_add(started, &operation));
        CHECK(operation == NULL);
    }
    return 0;
}

static int add_to(void* const* arguments) {
    *(double*)arguments[1] += *(const double*)arguments[0];
    return 0;
}

/* Annotated: passes the first number on, and gets the second one. */
static int pass_numbers(void* const* arguments, hocket_started* started) {
    MPI_Request requests[2];
    MPI_Isend(arguments[0], 1, MPI_DOUBLE, (rank + 1) % ranks, 77, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(arguments[1], 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 77, MPI_COMM_WORLD,
              &requests[1]);
    for (int i = 0; i < 2; ++i) {
        hocket_operation* operation = NULL;
        OK(hocket_operation_from_request(&requests[i], &operation));
        OK(hocket_started_add(started, &operation));
    }
    return *(double*)arguments[0] < 0;
}

static hocket_access memory(int kind, const void* data, int64_t bytes) {
    hocket_access access = {kind, NULL, data, bytes, 0, NULL, NULL, NULL};
    return access;
}

static void test_computing(const hocket_flow_options* options) {
    hocket_flow* flow = NULL;
    double x = 0, grid[6] = {0, 0, 0, 0, 0, 0};
    OK(hocket_flow_make(options, &flow));
    int workers = 0;
    bool inside = true, thread = false;
    int64_t steps = 0;
    OK(hocket_flow_workers(flow, &workers));
    CHECK(workers == 2);
    OK(hocket_flow_agent_thread(flow, &thread));
    CHECK(thread == (options->agent == HOCKET_AGENT_THREAD));
    hocket_access updates = memory(HOCKET_UPDATES, &x, sizeof x);
    for (int i = 0; i < 10; ++i) OK(hocket_flow_task(flow, twice, &x, 1, &updates, i % 3, "twice"));
    OK(hocket_flow_wait_on(flow, &updates, 60));
    CHECK(x == 1023);

    /* Columns of a grid, a key, and a sum of parts. */
    int64_t extents[] = {2, 1}, strides[] = {24, 8};
    for (int j = 0; j < 3; ++j) {
        hocket_access column = {HOCKET_UPDATES, NULL, &grid[j], 8, 2, extents, strides, NULL};
        hocket_access both[] = {column, {HOCKET_COMMUTES, "key", NULL, 0, 0, NULL, NULL, NULL}};
        OK(hocket_flow_task(flow, twice, &grid[j], 2, both, 0, NULL));
    }
    hocket_reduction* sum = NULL;
    FAILS(HOCKET_ERR_ARGUMENT, hocket_reduction_make("sum", NULL, add, NULL, &sum));
    OK(hocket_reduction_make("sum", zero, add, NULL, &sum));
    double total[2] = {5, 5};
    hocket_access reduces = memory(HOCKET_REDUCES, total, sizeof total);
    reduces.reduction = sum;
    for (int i = 0; i < 20; ++i) OK(hocket_flow_task(flow, count_one, NULL, 1, &reduces, 0, NULL));
    /* The first and third of four: parts lie together. */
    double spread[4] = {5, -1, 5, -1};
    const int64_t two_of[] = {2}, apart[] = {16};
    const hocket_access strided = {HOCKET_REDUCES, NULL, spread, 8, 1, two_of, apart, sum};
    for (int i = 0; i < 20; ++i) OK(hocket_flow_task(flow, count_one, NULL, 1, &strided, 0, NULL));
    OK(hocket_reduction_free(&sum));
    OK(hocket_flow_wait(flow, 60));
    CHECK(spread[0] == 5 && spread[1] == -1 && spread[2] == 25 && spread[3] == -1);
    CHECK(grid[0] == 1 && grid[2] == 1 && grid[3] == 0);
    CHECK(total[0] == 5 && total[1] == 25);
    OK(hocket_flow_steps(flow, &steps));
    CHECK(steps == 53);
    const char* text = NULL;
    OK(hocket_flow_dot(flow, &text));
    CHECK(strstr(text, "s0 -> s1;") != NULL && strstr(text, "s10 -> s11;") == NULL);
    OK(hocket_flow_svg(flow, &text));
    CHECK(strstr(text, "twice") != NULL);

    /* An annotated function: a call, or a step. */
    int kinds[] = {HOCKET_READS, HOCKET_UPDATES};
    hocket_annotated* step = NULL;
    double one = 1, two = 2;
    hocket_access arguments[] = {memory(HOCKET_VALUE, &one, 8), memory(HOCKET_VALUE, &two, 8)};
    OK(hocket_annotated_make("add_to", add_to, 2, kinds, 1, &step));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_annotated_step_threads(step, -1));
    OK(hocket_annotated_step_threads(step, 2));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_annotated_step_threads(NULL, 2));
    OK(hocket_flow_inside(&inside));
    CHECK(!inside);
    OK(hocket_annotated_call(step, 2, arguments));
    CHECK(two == 3);
    OK(hocket_flow_enter(flow));
    OK(hocket_flow_inside(&inside));
    CHECK(inside);
    OK(hocket_annotated_call(step, 2, arguments));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_annotated_call(step, 1, arguments));
    SAYS("annotated with 2 arguments");
    OK(hocket_flow_leave(flow));
    FAILS(HOCKET_ERR_ERROR, hocket_flow_leave(flow));
    OK(hocket_flow_wait(flow, 60));
    CHECK(two == 4);
    OK(hocket_annotated_free(&step));

    /* A step that fails, and what depends on it. */
    OK(hocket_flow_task(flow, fails, NULL, 1, &updates, 0, "broken"));
    OK(hocket_flow_task(flow, twice, &x, 1, &updates, 0, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_flow_wait(flow, 60));
    SAYS("step 'broken' failed: its function returned 7");
    CHECK(x == 1023);
    OK(hocket_flow_give_way(flow));
    OK(hocket_flow_cancel(flow));
    OK(hocket_flow_wait(flow, 60));

    /* Memory that is none. */
    hocket_access nothing = memory(HOCKET_READS, NULL, 8);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_task(flow, twice, &x, 1, &nothing, 0, NULL));
    SAYS("neither a 'key' nor 'data', but 8 bytes");

    /* A share of threads for kernels of a step. */
    OK(hocket_flow_step_threads(flow, 2));
    OK(hocket_flow_task(flow, twice, &x, 1, &updates, 0, NULL));
    OK(hocket_flow_step_threads(flow, 0));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_step_threads(flow, -1));
    OK(hocket_flow_wait(flow, 60));
    CHECK(x == 2047);

    /* A thread inside may not free it; another one waits for steps that use the handle. */
    OK(hocket_flow_enter(flow));
    FAILS(HOCKET_ERR_ERROR, hocket_flow_free(&flow));
    SAYS("this thread is inside the flow");
    OK(hocket_flow_leave(flow));
    OK(hocket_flow_task(flow, frees, &flow, 0, NULL, 0, "frees"));
    OK(hocket_flow_wait(flow, 60));
    outer = flow;
    x = 0;
    for (int i = 0; i < 20; ++i) OK(hocket_flow_task(flow, inserts, &x, 1, &updates, 0, "inserts"));
    OK(hocket_flow_free(&flow));
    CHECK(flow == NULL && x == 1048575);
}

static void test_communicating(const hocket_flow_options* options) {
    enum { count = 10 };
    hocket_flow* flow = NULL;
    message messages[count];
    double x = rank;
    OK(hocket_flow_make(options, &flow));
    for (int i = 0; i < count; ++i) {
        messages[i].out = 100 * i + rank;
        messages[i].tag = i;
        hocket_access touched[] = {memory(HOCKET_READS, &messages[i].out, 8),
                                   memory(HOCKET_WRITES, &messages[i].in, 8)};
        OK(hocket_flow_comm(flow, pass_on, &messages[i], 2, touched, -i, "pass on"));
    }
    hocket_access own = memory(HOCKET_UPDATES, &x, 8);
    OK(hocket_flow_task(flow, twice, &x, 1, &own, 0, NULL));
    OK(hocket_flow_wait(flow, 60));
    for (int i = 0; i < count; ++i) CHECK(messages[i].in == 100 * i + (rank + ranks - 1) % ranks);
    CHECK(x == 2 * rank + 1);

    /* An annotated one: a call that waits, or a step. */
    const double before = 2 * ((rank + ranks - 1) % ranks) + 1;
    double y = -1, z = -1;
    int kinds[] = {HOCKET_READS, HOCKET_WRITES}, wrong[] = {HOCKET_READS, HOCKET_COMMUTES};
    hocket_annotated* pass = NULL;
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_annotated_make_comm("pass", pass_numbers, 2, wrong, 0, &pass));
    SAYS("that communicates cannot have arguments of kind 3");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_annotated_make_comm("pass", NULL, 2, kinds, 0, &pass));
    OK(hocket_annotated_make_comm("pass", pass_numbers, 2, kinds, 0, &pass));
    hocket_access call[] = {memory(HOCKET_VALUE, &x, 8), memory(HOCKET_VALUE, &y, 8)};
    OK(hocket_annotated_call(pass, 2, call));
    CHECK(y == before);
    call[1].data = &z;
    OK(hocket_flow_enter(flow));
    OK(hocket_flow_task(flow, twice, &x, 1, &own, 0, NULL));
    OK(hocket_annotated_call(pass, 2, call));
    OK(hocket_flow_leave(flow));
    hocket_access got_it = memory(HOCKET_READS, &z, 8);
    OK(hocket_flow_wait_on(flow, &got_it, 60));
    CHECK(z == 2 * before + 1);
    OK(hocket_annotated_free(&pass));
    OK(hocket_flow_wait(flow, 60));

    MPI_Request request;
    double sent = 3, got = 0;
    MPI_Irecv(&got, 1, MPI_DOUBLE, 0, 99, MPI_COMM_SELF, &request);
    MPI_Request copy = request;
    hocket_operation* watch = NULL;
    bool done = true;
    OK(hocket_operation_watch_request(copy, &watch));
    OK(hocket_operation_poll(watch, &done));
    CHECK(!done);
    MPI_Send(&sent, 1, MPI_DOUBLE, 0, 99, MPI_COMM_SELF);
    OK(hocket_operation_wait(watch, 60));
    OK(hocket_operation_free(&watch));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == 3);
    OK(hocket_flow_free(&flow));
}

static void test_task_verbs(const hocket_flow_options* options) {
    hocket_task_request all = {"all", ranks, NULL};
    hocket_tasks* tasks = NULL;
    hocket_flow* flow = NULL;
    char text[64];
    snprintf(text, sizeof text, "(24) (BLOCK) @ (%d)", ranks);
    hocket_layout* layout = layout_of(text);
    OK(hocket_tasks_make(1, &all, MPI_COMM_WORLD, &tasks));
    MPI_Comm comm;
    OK(hocket_tasks_comm(tasks, &comm));
    hocket_array *out = numbered(layout, comm), *in = numbered(layout, comm),
                 *last = numbered(layout, comm);
    clear(in);
    clear(last);
    OK(hocket_flow_make(options, &flow));
    OK(hocket_flow_recv(flow, tasks, in, hocket_task_named("all"), 1, 0));
    OK(hocket_flow_send(flow, tasks, out, hocket_task_named("all"), 1, 1));
    OK(hocket_flow_send(flow, tasks, in, hocket_task_at(0), 2, 0));
    OK(hocket_flow_recv(flow, tasks, last, hocket_task_at(0), 2, 0));
    OK(hocket_flow_wait(flow, 60));
    CHECK(wrong_numbers(in) == 0 && wrong_numbers(last) == 0);
    OK(hocket_flow_free(&flow));

    hocket_request *send = NULL, *receive = NULL;
    hocket_array* const sent[] = {out};
    hocket_array* const received[] = {in};
    const hocket_message_options later = {.tag = 3, .later = true};
    clear(in);
    OK(hocket_tasks_isend(tasks, 1, sent, hocket_task_at(0), &later, &send));
    OK(hocket_tasks_irecv(tasks, 1, received, hocket_task_at(0), &later, &receive));
    FAILS(HOCKET_ERR_ERROR, hocket_request_wait(send, 60, NULL));
    SAYS("it has not begun");
    OK(hocket_request_start(receive, NULL));
    OK(hocket_request_start(send, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_request_start(send, NULL));
    OK(hocket_request_wait(receive, 60, NULL));
    OK(hocket_request_wait(send, 60, NULL));
    CHECK(wrong_numbers(in) == 0);
    OK(hocket_request_free(&send));
    OK(hocket_request_free(&receive));
    OK(hocket_array_free(&out));
    OK(hocket_array_free(&in));
    OK(hocket_array_free(&last));
    OK(hocket_layout_free(&layout));
    OK(hocket_tasks_free(&tasks));
}

/* As the Fortran module begins and ends its procedures. */
static int counts_from_one(void* context) {
    const int64_t start[2] = {0, 0}, stop[2] = {3, 3}, shape[2] = {2, 3};
    hocket_layout* layout = NULL;
    (void)context;
    OK(hocket_first_index_set(1));
    FAILS(HOCKET_ERR_LAYOUT,
          hocket_layout_from_local_box(MPI_COMM_WORLD, 2, start, stop, shape, 60, &layout));
    OK(hocket_first_index_set(0));
    SAYS("in dimension 1;");
    return 0;
}
static int counts_briefly(void* context) {
    (void)context;
    OK(hocket_first_index_set(1));
    OK(hocket_first_index_set(0));
    return 0;
}
static int counts_from_zero(void* context, void* const* parts) {
    int64_t owner;
    (void)parts;
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_owner(context, (const int64_t[2]){9, 0}, &owner));
    SAYS("(9, 0)");
    return 0;
}

/* Steps of several languages in one thread. */
static void test_first_indices(const hocket_flow_options* options) {
    hocket_flow* flow = NULL;
    hocket_layout* layout = layout_of("(6, 4) (*, *) @ ()");
    OK(hocket_flow_make(options, &flow));
    OK(hocket_flow_task(flow, counts_from_zero, layout, 0, NULL, 0, NULL));
    OK(hocket_first_index_set(1));
    OK(hocket_flow_wait(flow, 60));
    OK(hocket_first_index_set(0));
    OK(hocket_flow_blocking_task(flow, counts_from_one, NULL, 0, NULL, 1, NULL));
    OK(hocket_flow_blocking_task(flow, counts_briefly, NULL, 0, NULL, 0, NULL));
    OK(hocket_flow_wait(flow, 60));
    OK(hocket_flow_free(&flow));
    OK(hocket_layout_free(&layout));
}

static void test_wrong_flows(void) {
    hocket_flow* flow = NULL;
    hocket_flow_options options;
    const hocket_flow_options zeros = {0};
    OK(hocket_flow_make(&zeros, &flow));
    OK(hocket_flow_free(&flow));
    OK(hocket_flow_options_default(&options));
    options.workers = -2;
    FAILS(HOCKET_ERR_ERROR, hocket_flow_make(&options, &flow));
    SAYS("-2 workers");
    options.workers = 1;
    options.threads = -1;
    FAILS(HOCKET_ERR_ERROR, hocket_flow_make(&options, &flow));
    SAYS("-1 threads");
    options.threads = 1;
    options.agent = 9;
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_make(&options, &flow));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_wait(flow, 1));
    OK(hocket_flow_make(NULL, &flow));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_task(flow, NULL, NULL, 0, NULL, 0, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_blocking_task(flow, NULL, NULL, 0, NULL, 0, NULL));
    bool ran = false;
    OK(hocket_flow_blocking_task(flow, blocks, &ran, 0, NULL, 0, NULL));
    OK(hocket_flow_wait(flow, 60));
    CHECK(ran);
    hocket_access wrong = memory(8, &options, 8);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_task(flow, twice, NULL, 1, &wrong, 0, NULL));
    wrong = memory(HOCKET_READS, &options, -8);
    FAILS(HOCKET_ERR_ERROR, hocket_flow_task(flow, twice, NULL, 1, &wrong, 0, NULL));
    wrong = memory(HOCKET_REDUCES, &options, 8);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_task(flow, twice, NULL, 1, &wrong, 0, NULL));
    OK(hocket_flow_free(&flow));
}

void test_flow(void) {
    hocket_flow_options options;
    OK(hocket_flow_options_default(&options));
    options.workers = 2;
    options.record = true;
    int level = 0;
    MPI_Query_thread(&level);
    for (int agent = HOCKET_AGENT_BETWEEN_STEPS; agent <= HOCKET_AGENT_THREAD; ++agent) {
        options.agent = agent;
        if (agent == HOCKET_AGENT_THREAD && level < MPI_THREAD_SERIALIZED) {
            hocket_flow* flow = NULL;
            FAILS(HOCKET_ERR_ERROR, hocket_flow_make(&options, &flow));
            SAYS("MPI_THREAD_SERIALIZED");
            continue;
        }
        test_computing(&options);
        test_communicating(&options);
        test_task_verbs(&options);
    }
    test_wrong_flows();
}
