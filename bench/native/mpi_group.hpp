// SPDX-License-Identifier: BSD-3-Clause
// The processes of an MPI communicator as a Group.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <string>
#include <vector>

#include "harness.hpp"

namespace hocket_bench {

/// Polls and yields: MPICH's blocking calls spin, which costs milliseconds if processes share a
/// core.
inline void finish(MPI_Request request) {
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;) sched_yield();
}

/// `comm` must outlive the group.
inline Group mpi_group(MPI_Comm comm) {
    Group group;
    MPI_Comm_rank(comm, &group.rank);
    group.clock = MPI_Wtime;
    group.barrier = [comm] {
        MPI_Request request;
        MPI_Ibarrier(comm, &request);
        finish(request);
    };
    group.maximum = [comm](std::span<double> values) {
        std::vector<double> mine(values.begin(), values.end());
        MPI_Request request;
        MPI_Iallreduce(mine.data(), values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                       MPI_MAX, comm, &request);
        finish(request);
    };
    return group;
}

/// Prints the MPI and the number of processes, on process 0 of the world.
inline void describe_mpi(const std::string& program) {
    int rank = 0, ranks = 0, length = 0, provided = 0, version = 0, subversion = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Query_thread(&provided);
    MPI_Get_version(&version, &subversion);
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(text, &length);
    std::string library(text);
    library = library.substr(0, library.find('\n'));
    const std::string standard = std::to_string(version) + "." + std::to_string(subversion);
    const std::string level = provided == MPI_THREAD_SINGLE       ? "single"
                              : provided == MPI_THREAD_FUNNELED   ? "funneled"
                              : provided == MPI_THREAD_SERIALIZED ? "serialized"
                                                                  : "multiple";
    describe(program, {{"mpi", quoted(library)},
                       {"standard", quoted(standard)},
                       {"thread level", quoted(level)},
                       {"ranks", std::to_string(ranks)}});
}

}  // namespace hocket_bench
