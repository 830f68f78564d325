// SPDX-License-Identifier: BSD-3-Clause
// MPI's blocking functions, by its profiling interface (MPI 4.1, chapter 15). In a step on a stack
// of its own they pause the step. Collective functions are non-blocking everywhere, as MPI does not
// match blocking with non-blocking ones.
#include <mpi.h>

#include <array>
#include <atomic>
#include <utility>

#include "steps.hpp"

namespace {

using hocket::blocking::BlockedCall;
using hocket::blocking::wait_in_step;
using hocket::flow::may_pause;

/// Starts requests by `start`, and waits for them in the step.
template <std::size_t count, class Start>
int in_step(Start&& start, std::array<MPI_Status, count>& statuses) {
    std::array<MPI_Request, count> requests;
    requests.fill(MPI_REQUEST_NULL);
    bool started = false;
    return wait_in_step([&](int* done) {
        if (!std::exchange(started, true))
            if (const int failed = start(requests); failed != MPI_SUCCESS) return failed;
        return PMPI_Testall(count, requests.data(), done, statuses.data());
    });
}

void give(const MPI_Status& from, MPI_Status* to) {
    if (to != MPI_STATUS_IGNORE) *to = from;
}

/// One request; its status goes to `status`.
template <class Start>
int one_in_step(MPI_Status* status, Start&& start) {
    std::array<MPI_Status, 1> statuses;
    const int result = in_step<1>([&](auto& requests) { return start(requests.data()); }, statuses);
    give(statuses[0], status);
    return result;
}

/// A function that waits: in the step by `test`, elsewhere by `blocking`.
template <class Test, class Blocking>
int waiting(const char* name, Test&& test, Blocking&& blocking) {
    if (may_pause()) return wait_in_step(test);
    const BlockedCall call(name);
    return blocking();
}

/// A function that sends or receives one message.
template <class Start, class Blocking>
int message(const char* name, MPI_Status* status, Start&& start, Blocking&& blocking) {
    if (may_pause()) return one_in_step(status, start);
    const BlockedCall call(name);
    return blocking();
}

// Set by programs in Python, whose steps never pause in these functions.
std::atomic<bool> only_notices{false};

/// A collective function, anywhere.
template <class Blocking, class Start>
int collective(const char* name, Blocking&& blocking, Start&& start) {
    if (may_pause()) {
        hocket::flow::await_earlier_blocking_tasks();
        return one_in_step(MPI_STATUS_IGNORE, start);
    }
    const BlockedCall call(name);
    if (only_notices.load(std::memory_order_relaxed)) return blocking();
    MPI_Request request = MPI_REQUEST_NULL;
    const int failed = start(&request);
    return failed == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : failed;
}

}  // namespace

#define HOCKET_MPI extern "C" __attribute__((visibility("default"))) int

HOCKET_MPI MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Status* status) {
    return message(
        "MPI_Recv", status,
        [&](MPI_Request* request) {
            return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
        },
        [&] { return PMPI_Recv(buffer, count, type, source, tag, comm, status); });
}

#define HOCKET_SEND(name, nonblocking)                                                          \
    HOCKET_MPI name(const void* buffer, int count, MPI_Datatype type, int destination, int tag, \
                    MPI_Comm comm) {                                                            \
        return message(                                                                         \
            #name, MPI_STATUS_IGNORE,                                                           \
            [&](MPI_Request* request) {                                                         \
                return nonblocking(buffer, count, type, destination, tag, comm, request);       \
            },                                                                                  \
            [&] { return P##name(buffer, count, type, destination, tag, comm); });              \
    }

HOCKET_SEND(MPI_Send, PMPI_Isend)
HOCKET_SEND(MPI_Ssend, PMPI_Issend)

HOCKET_MPI MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int destination,
                        int out_tag, void* in, int in_count, MPI_Datatype in_type, int source,
                        int in_tag, MPI_Comm comm, MPI_Status* status) {
    if (may_pause()) {
        std::array<MPI_Status, 2> statuses;
        const int result = in_step<2>(
            [&](auto& requests) {
                const int failed =
                    PMPI_Irecv(in, in_count, in_type, source, in_tag, comm, &requests[0]);
                if (failed != MPI_SUCCESS) return failed;
                return PMPI_Isend(out, out_count, out_type, destination, out_tag, comm,
                                  &requests[1]);
            },
            statuses);
        give(statuses[0], status);
        return result;
    }
    const BlockedCall call("MPI_Sendrecv");
    return PMPI_Sendrecv(out, out_count, out_type, destination, out_tag, in, in_count, in_type,
                         source, in_tag, comm, status);
}

HOCKET_MPI MPI_Wait(MPI_Request* request, MPI_Status* status) {
    return waiting(
        "MPI_Wait", [&](int* done) { return PMPI_Test(request, done, status); },
        [&] { return PMPI_Wait(request, status); });
}

HOCKET_MPI MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    return waiting(
        "MPI_Waitall", [&](int* done) { return PMPI_Testall(count, requests, done, statuses); },
        [&] { return PMPI_Waitall(count, requests, statuses); });
}

HOCKET_MPI MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    return waiting(
        "MPI_Waitany",
        [&](int* done) { return PMPI_Testany(count, requests, index, done, status); },
        [&] { return PMPI_Waitany(count, requests, index, status); });
}

HOCKET_MPI MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return waiting(
        "MPI_Probe", [&](int* found) { return PMPI_Iprobe(source, tag, comm, found, status); },
        [&] { return PMPI_Probe(source, tag, comm, status); });
}

/// From now on names steps that block in MPI, and leaves collective functions as they are.
extern "C" __attribute__((visibility("default"))) void hocket_mpi_only_notices() {
    only_notices = true;
}

// A collective function has the arguments of its non-blocking form, but for the request.
#define HOCKET_COLLECTIVE(name, nonblocking, parameters, ...)                         \
    HOCKET_MPI name parameters {                                                      \
        return collective(                                                            \
            #name, [&] { return P##name(__VA_ARGS__); },                              \
            [&](MPI_Request* request) { return nonblocking(__VA_ARGS__, request); }); \
    }

HOCKET_COLLECTIVE(MPI_Barrier, PMPI_Ibarrier, (MPI_Comm comm), comm)
HOCKET_COLLECTIVE(MPI_Bcast, PMPI_Ibcast,
                  (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), buffer,
                  count, type, root, comm)
HOCKET_COLLECTIVE(MPI_Reduce, PMPI_Ireduce,
                  (const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm),
                  out, in, count, type, op, root, comm)
HOCKET_COLLECTIVE(MPI_Allreduce, PMPI_Iallreduce,
                  (const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, count, type, op, comm)
HOCKET_COLLECTIVE(MPI_Scan, PMPI_Iscan,
                  (const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, count, type, op, comm)
HOCKET_COLLECTIVE(MPI_Exscan, PMPI_Iexscan,
                  (const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, count, type, op, comm)
HOCKET_COLLECTIVE(MPI_Gather, PMPI_Igather,
                  (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                   MPI_Datatype in_type, int root, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Gatherv, PMPI_Igatherv,
                  (const void* out, int out_count, MPI_Datatype out_type, void* in,
                   const int in_counts[], const int places[], MPI_Datatype in_type, int root,
                   MPI_Comm comm),
                  out, out_count, out_type, in, in_counts, places, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Scatter, PMPI_Iscatter,
                  (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                   MPI_Datatype in_type, int root, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Scatterv, PMPI_Iscatterv,
                  (const void* out, const int out_counts[], const int places[],
                   MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
                   MPI_Comm comm),
                  out, out_counts, places, out_type, in, in_count, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Allgather, PMPI_Iallgather,
                  (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                   MPI_Datatype in_type, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, comm)
HOCKET_COLLECTIVE(MPI_Allgatherv, PMPI_Iallgatherv,
                  (const void* out, int out_count, MPI_Datatype out_type, void* in,
                   const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm),
                  out, out_count, out_type, in, in_counts, places, in_type, comm)
HOCKET_COLLECTIVE(MPI_Alltoall, PMPI_Ialltoall,
                  (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                   MPI_Datatype in_type, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, comm)
HOCKET_COLLECTIVE(MPI_Alltoallv, PMPI_Ialltoallv,
                  (const void* out, const int out_counts[], const int out_places[],
                   MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
                   MPI_Datatype in_type, MPI_Comm comm),
                  out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm)
HOCKET_COLLECTIVE(MPI_Alltoallw, PMPI_Ialltoallw,
                  (const void* out, const int out_counts[], const int out_places[],
                   const MPI_Datatype out_types[], void* in, const int in_counts[],
                   const int in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
                  out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm)
HOCKET_COLLECTIVE(MPI_Reduce_scatter, PMPI_Ireduce_scatter,
                  (const void* out, void* in, const int in_counts[], MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, in_counts, type, op, comm)
HOCKET_COLLECTIVE(MPI_Reduce_scatter_block, PMPI_Ireduce_scatter_block,
                  (const void* out, void* in, int in_count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, in_count, type, op, comm)
