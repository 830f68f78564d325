// SPDX-License-Identifier: BSD-3-Clause
// MPI's blocking functions, by its profiling interface (MPI 4.1, chapter 15). In a step on a stack
// of its own they pause the step. Collective functions are non-blocking everywhere, as MPI does not
// match blocking with non-blocking ones.
#include <mpi.h>

#include <array>
#include <atomic>
#include <span>
#include <utility>

#include "steps.hpp"

namespace {

using hocket::blocking::BlockedCall;
using hocket::blocking::wait_in_step;
using hocket::flow::may_pause;

/// MPI_Testall reports an error in a status; a function for one message returns it.
int error_of(int result, std::span<const MPI_Status> statuses) {
    if (result != MPI_ERR_IN_STATUS) return result;
    for (const MPI_Status& status : statuses)
        if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING)
            return status.MPI_ERROR;
    return result;
}

/// Starts requests by `start`, and waits for them in the step.
template <std::size_t count, class Start>
int in_step(Start&& start, std::array<MPI_Status, count>& statuses) {
    std::array<MPI_Request, count> requests;
    requests.fill(MPI_REQUEST_NULL);
    bool started = false;
    return wait_in_step([&](int* done) {
        if (!std::exchange(started, true))
            if (const int failed = start(requests); failed != MPI_SUCCESS) return failed;
        return error_of(PMPI_Testall(count, requests.data(), done, statuses.data()), statuses);
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

HOCKET_MPI MPI_Barrier(MPI_Comm comm) {
    return collective(
        "MPI_Barrier", [&] { return PMPI_Barrier(comm); },
        [&](MPI_Request* request) { return PMPI_Ibarrier(comm, request); });
}

#define HOCKET_NAME(name) name
#define HOCKET_COUNT int
#define HOCKET_PLACE int
#include "counted_functions.inc"

#if MPI_VERSION >= 4  // mpi4py calls these where they exist
#define HOCKET_NAME(name) name##_c
#define HOCKET_COUNT MPI_Count
#define HOCKET_PLACE MPI_Aint
#include "counted_functions.inc"
#endif
