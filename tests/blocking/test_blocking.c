/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that call MPI's blocking functions, on two processes or more. These programs would not end
 * if a call held its worker. */
#include "check.h"

#if defined(LARGE_COUNTS) && MPI_VERSION >= 4
typedef MPI_Count count_of;
typedef MPI_Aint place_of;
#define MPI_Allgather MPI_Allgather_c
#define MPI_Allgatherv MPI_Allgatherv_c
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Alltoallv MPI_Alltoallv_c
#define MPI_Bcast MPI_Bcast_c
#define MPI_Exscan MPI_Exscan_c
#define MPI_Gather MPI_Gather_c
#define MPI_Gatherv MPI_Gatherv_c
#define MPI_Recv MPI_Recv_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Reduce_scatter MPI_Reduce_scatter_c
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#define MPI_Scan MPI_Scan_c
#define MPI_Scatter MPI_Scatter_c
#define MPI_Scatterv MPI_Scatterv_c
#define MPI_Send MPI_Send_c
#define MPI_Sendrecv MPI_Sendrecv_c
#define MPI_Ssend MPI_Ssend_c
#else
typedef int count_of;
typedef int place_of;
#endif

enum { EXCHANGES = 128, MANY = 200, UPDATES = 500 };

static hocket_access key(int kind, const char* name) {
    hocket_access access = {kind, name, NULL, 0, 0, NULL, NULL, NULL};
    return access;
}

static hocket_flow* flow_of(int workers, int agent) {
    hocket_flow_options options;
    hocket_flow* flow = NULL;
    OK(hocket_flow_options_default(&options));
    options.workers = workers;
    options.agent = agent;
    OK(hocket_flow_make(&options, &flow));
    return flow;
}

static int below(void) {
    return (rank + ranks - 1) % ranks;
}
static int above(void) {
    return (rank + 1) % ranks;
}

/* The message comes only after the chain of steps has ended, which needs the only worker. */
static int chain_length, received_after;
static int update(void* context, void* const* parts) {
    (void)context;
    (void)parts;
    ++chain_length;
    return 0;
}
static int send_on(void* context, hocket_started* started) {
    MPI_Request request;
    hocket_operation* operation;
    (void)context;
    MPI_Isend(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
    OK(hocket_operation_from_request(&request, &operation));
    OK(hocket_started_add(started, &operation));
    return 0;
}
static int receive(void* context) {
    int* value = context;
    MPI_Status status;
    MPI_Recv(value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == rank && status.MPI_TAG == 1);
    received_after = chain_length;
    return 0;
}
static void a_receive_holds_no_worker(int workers, int agent) {
    hocket_flow* flow = flow_of(workers, agent);
    int value = -1;
    hocket_access message = {HOCKET_WRITES, NULL, &value, sizeof value, 0, NULL, NULL, NULL};
    hocket_access chain = key(HOCKET_UPDATES, "chain");
    chain_length = received_after = 0;
    OK(hocket_flow_blocking_task(flow, receive, &value, 1, &message, 1, "receive"));
    for (int i = 0; i < 60; ++i) OK(hocket_flow_task(flow, update, NULL, 1, &chain, 0, NULL));
    OK(hocket_flow_comm(flow, send_on, NULL, 1, &chain, 0, "send"));
    OK(hocket_flow_wait(flow, 60));
    OK(hocket_flow_free(&flow));
    CHECK(value == rank && received_after == 60);
}

/* The pivot search of LINPACK: many exchanges in one step, updates in between. Half of the updates
   must have run before the exchange in the middle can end. */
static int updates_before_middle;
static int update_beside_search(void* context, void* const* parts) {
    update(context, parts);
    if (chain_length == UPDATES / 2) {
        MPI_Request request;
        MPI_Isend(&chain_length, 0, MPI_INT, rank, EXCHANGES, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    return 0;
}
static int search(void* context) {
    (void)context;
    for (int i = 0; i < EXCHANGES; ++i) {
        int out = rank * 1000 + i, in = -1, largest = -1, seen = -1, flag;
        MPI_Status status, statuses[2];
        MPI_Request requests[2];
        switch (i % 6) {
            case 0:
                MPI_Sendrecv(&out, 1, MPI_INT, above(), i, &in, 1, MPI_INT, below(), i,
                             MPI_COMM_WORLD, &status);
                CHECK(status.MPI_SOURCE == below());
                break;
            case 1:
                if (rank % 2 == 0 && ranks % 2 == 0) {
                    MPI_Send(&out, 1, MPI_INT, above(), i, MPI_COMM_WORLD);
                    MPI_Recv(&in, 1, MPI_INT, below(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                } else if (ranks % 2 == 0) {
                    MPI_Recv(&in, 1, MPI_INT, below(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    MPI_Ssend(&out, 1, MPI_INT, above(), i, MPI_COMM_WORLD);
                } else {
                    in = below() * 1000 + i;
                }
                break;
            case 2:
                MPI_Isend(&out, 1, MPI_INT, above(), i, MPI_COMM_WORLD, &requests[0]);
                MPI_Probe(below(), i, MPI_COMM_WORLD, &status);
                MPI_Get_count(&status, MPI_INT, &seen);
                CHECK(seen == 1);
                MPI_Irecv(&in, 1, MPI_INT, below(), i, MPI_COMM_WORLD, &requests[1]);
                MPI_Waitall(2, requests, statuses);
                CHECK(statuses[1].MPI_TAG == i);
                break;
            case 3:
                MPI_Irecv(&in, 1, MPI_INT, below(), i, MPI_COMM_WORLD, &requests[0]);
                MPI_Isend(&out, 1, MPI_INT, above(), i, MPI_COMM_WORLD, &requests[1]);
                MPI_Wait(&requests[0], &status);
                CHECK(requests[0] == MPI_REQUEST_NULL && status.MPI_SOURCE == below());
                MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
                break;
            case 4:
                MPI_Irecv(&in, 1, MPI_INT, below(), i, MPI_COMM_WORLD, &requests[0]);
                MPI_Isend(&out, 1, MPI_INT, above(), i, MPI_COMM_WORLD, &requests[1]);
                MPI_Waitany(2, requests, &flag, &status);
                MPI_Waitany(2, requests, &seen, &status);
                CHECK(flag + seen == 1);
                break;
            default:
                MPI_Allreduce(&out, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
                CHECK(largest == (ranks - 1) * 1000 + i);
                in = below() * 1000 + i;
        }
        CHECK(in == below() * 1000 + i);
        if (i != EXCHANGES / 2) continue;
        MPI_Recv(&in, 0, MPI_INT, rank, EXCHANGES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        updates_before_middle = chain_length;
    }
    return 0;
}
static void updates_run_between_exchanges(void) {
    hocket_flow* flow = flow_of(1, HOCKET_AGENT_BETWEEN_STEPS);
    hocket_access pivot = key(HOCKET_UPDATES, "pivot"), chain = key(HOCKET_UPDATES, "chain");
    chain_length = 0;
    OK(hocket_flow_blocking_task(flow, search, NULL, 1, &pivot, 1, "search"));
    for (int i = 0; i < UPDATES; ++i)
        OK(hocket_flow_task(flow, update_beside_search, NULL, 1, &chain, 0, NULL));
    OK(hocket_flow_wait(flow, 60));
    OK(hocket_flow_free(&flow));
    CHECK(chain_length == UPDATES && updates_before_middle >= UPDATES / 2);
}

/* Each collective function, in steps whose priorities differ from process to process. */
static int sums[16];
static int reduce(void* context) {
    const int i = (int)(intptr_t)context;
    int mine = (rank + 1) * (i + 1);
    MPI_Allreduce(&mine, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return 0;
}
static void collective_calls_begin_in_the_order_of_insertion(int workers) {
    hocket_flow* flow = flow_of(workers, HOCKET_AGENT_BETWEEN_STEPS);
    for (intptr_t i = 0; i < 16; ++i) {
        const int priority = rank % 2 == 0 ? (int)i : -(int)i;
        sums[i] = -1;
        OK(hocket_flow_blocking_task(flow, reduce, (void*)i, 0, NULL, priority, NULL));
    }
    OK(hocket_flow_wait(flow, 60));
    OK(hocket_flow_free(&flow));
    for (int i = 0; i < 16; ++i) CHECK(sums[i] == ranks * (ranks + 1) / 2 * (i + 1));
}
static int all_collectives(void* context) {
    int mine = rank + 1, sum = 0, *all = malloc(sizeof(int) * (size_t)ranks * 2);
    int* other = all + ranks;
    count_of* counts = malloc(sizeof(count_of) * (size_t)ranks);
    place_of* places = malloc(sizeof(place_of) * (size_t)ranks);
    const int total = ranks * (ranks + 1) / 2;
    (void)context;
    for (int p = 0; p < ranks; ++p) {
        counts[p] = 1;
        places[p] = p;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sum = rank == 0 ? 77 : 0;
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(sum == 77);
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    CHECK(sum == (rank == ranks - 1 ? total : 77));
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (rank + 1) * (rank + 2) / 2);
    MPI_Exscan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || sum == rank * (rank + 1) / 2);
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(all, 1, MPI_INT, &sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(sum == mine);
    MPI_Gatherv(&mine, 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(all, counts, places, MPI_INT, &sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(sum == mine);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int p = 0; p < ranks; ++p) CHECK(all[p] == p + 1);
    MPI_Allgatherv(&mine, 1, MPI_INT, other, counts, places, MPI_INT, MPI_COMM_WORLD);
    CHECK(memcmp(all, other, sizeof(int) * (size_t)ranks) == 0);
    for (int p = 0; p < ranks; ++p) all[p] = 100 * rank + p;
    MPI_Alltoall(all, 1, MPI_INT, other, 1, MPI_INT, MPI_COMM_WORLD);
    for (int p = 0; p < ranks; ++p) CHECK(other[p] == 100 * p + rank);
    memset(other, 0, sizeof(int) * (size_t)ranks);
    MPI_Alltoallv(all, counts, places, MPI_INT, other, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int p = 0; p < ranks; ++p) CHECK(other[p] == 100 * p + rank);
    for (int p = 0; p < ranks; ++p) all[p] = p;
    MPI_Reduce_scatter(all, &sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * rank);
    MPI_Reduce_scatter_block(all, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * rank);
    free(all);
    free(counts);
    free(places);
    return 0;
}

/* Two steps that would deadlock on one worker (seed 001, section 2.2): each process receives first,
 * and sends in a step that it inserts later. */
static int send_to(void* context) {
    MPI_Send(context, 1, MPI_INT, above(), 5, MPI_COMM_WORLD);
    return 0;
}
static int receive_from(void* context) {
    MPI_Recv(context, 1, MPI_INT, below(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
static void receives_first_and_sends_later(void) {
    hocket_flow* flow = flow_of(1, HOCKET_AGENT_BETWEEN_STEPS);
    int in[MANY], out[MANY];
    for (int i = 0; i < MANY; ++i) {
        hocket_access into = {HOCKET_WRITES, NULL, &in[i], sizeof(int), 0, NULL, NULL, NULL};
        OK(hocket_flow_blocking_task(flow, receive_from, &in[i], 1, &into, 0, NULL));
    }
    for (int i = 0; i < MANY; ++i) {
        hocket_access from = {HOCKET_READS, NULL, &out[i], sizeof(int), 0, NULL, NULL, NULL};
        out[i] = 1000 * rank + i;
        OK(hocket_flow_blocking_task(flow, send_to, &out[i], 1, &from, 0, NULL));
    }
    OK(hocket_flow_wait(flow, 60));
    OK(hocket_flow_free(&flow));
    for (int i = 0; i < MANY; ++i) CHECK(in[i] == 1000 * below() + i);
}

static int fails(void* context) {
    (void)context;
    MPI_Barrier(MPI_COMM_WORLD);
    return 7;
}
#ifndef MPICH_VERSION /* which ends the program, whatever the communicator's error handler */
/* A function for one message returns the message's error, as outside of steps. */
static int truncated(void* context) {
    MPI_Comm comm = *(MPI_Comm*)context;
    MPI_Request request;
    int sent[2] = {1, 2}, received = 0, class;
    MPI_Isend(sent, 2, MPI_INT, rank, 6, comm, &request);
    MPI_Error_class(MPI_Recv(&received, 1, MPI_INT, rank, 6, comm, MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 0;
}
#endif
static void errors(void) {
    hocket_flow* flow = flow_of(2, HOCKET_AGENT_AUTOMATIC);
    double x = 0;
    hocket_access commutes = {HOCKET_COMMUTES, NULL, &x, sizeof x, 0, NULL, NULL, NULL};
    hocket_access chain = key(HOCKET_UPDATES, "chain");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_blocking_task(flow, NULL, NULL, 0, NULL, 0, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_flow_blocking_task(flow, fails, NULL, 1, &commutes, 0, NULL));
    chain_length = 0;
    OK(hocket_flow_blocking_task(flow, fails, NULL, 1, &chain, 0, "failing"));
    OK(hocket_flow_task(flow, update, NULL, 1, &chain, 0, NULL));
    CHECK(hocket_flow_wait(flow, 60) != HOCKET_SUCCESS);
    SAYS("failing");
    CHECK(chain_length == 0);
#ifndef MPICH_VERSION
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    OK(hocket_flow_blocking_task(flow, truncated, &comm, 1, &chain, 0, "truncated"));
    OK(hocket_flow_wait(flow, 60));
    MPI_Comm_free(&comm);
#endif
    OK(hocket_flow_free(&flow));
}

int main(int argc, char** argv) {
    int level, mine = rank, largest;
    long all = 0;
#if defined(LARGE_COUNTS) && MPI_VERSION < 4
    puts("this MPI has no large counts");
    return 0;
#endif
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(level >= MPI_THREAD_SERIALIZED);
    for (int workers = 1; workers <= 3; ++workers) {
        a_receive_holds_no_worker(workers, HOCKET_AGENT_BETWEEN_STEPS);
        a_receive_holds_no_worker(workers, HOCKET_AGENT_THREAD);
        collective_calls_begin_in_the_order_of_insertion(workers);
    }
    updates_run_between_exchanges();
    receives_first_and_sends_later();
    all_collectives(NULL); /* outside of steps */
    hocket_flow* flow = flow_of(2, HOCKET_AGENT_AUTOMATIC);
    OK(hocket_flow_blocking_task(flow, all_collectives, NULL, 0, NULL, 0, "all"));
    OK(hocket_flow_wait(flow, 60));
    OK(hocket_flow_free(&flow));
    errors();
    mine = rank;
    MPI_Allreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(largest == ranks - 1);
    MPI_Reduce(&checks, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("blocking: %ld checks on %d processes\n", all, ranks);
    MPI_Finalize();
    return 0;
}
