// SPDX-License-Identifier: BSD-3-Clause
// Flows where there are no threads of the operating system: tokens go round all simulated
// processes, each of which adds one; what is asked for in threads is left out. The exit code is not
// zero where a token is wrong.
#include "hocket/flow.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "hocket/mpi.hpp"

namespace {

constexpr int tokens = 8;

int rank = 0, size = 0;

hocket::Region region(double& value) {
    return {&value, sizeof value};
}

std::unique_ptr<hocket::Operation> receive(double& into, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&into, 1, MPI_DOUBLE, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &request);
    return hocket::operation(request);
}

std::unique_ptr<hocket::Operation> send(const double& from, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&from, 1, MPI_DOUBLE, (rank + 1) % size, tag, MPI_COMM_WORLD, &request);
    return hocket::operation(request);
}

void go_round(hocket::Agent agent) {
    hocket::FlowOptions options;
    options.workers = 4;
    options.agent = agent;
    hocket::Flow flow(options);
    if (flow.workers() != 1 || flow.agent_thread())
        throw hocket::Error("a flow has threads, which a simulated process has not");
    std::vector<double> token(tokens);
    for (int k = 0; k < tokens; ++k) {
        double& value = token[static_cast<std::size_t>(k)];
        // All receive first, as blocking calls must not; only what a token depends on waits.
        if (rank == 0)
            flow.task([&value, k] { value = 100 * k; }, {hocket::writes(region(value))});
        else
            flow.comm([&value, k] { return receive(value, k); }, {hocket::writes(region(value))});
        flow.task([&value] { value += 1; }, {hocket::updates(region(value))});
        flow.comm([&value, k] { return send(value, k); }, {hocket::reads(region(value))});
        if (rank == 0)
            flow.comm([&value, k] { return receive(value, k); }, {hocket::writes(region(value))});
    }
    flow.wait();
    for (int k = 0; k < tokens; ++k) {
        const double wanted = 100 * k + (rank == 0 ? size : rank + 1);
        if (token[static_cast<std::size_t>(k)] != wanted)
            throw hocket::Error("token " + std::to_string(k) + " is " +
                                std::to_string(token[static_cast<std::size_t>(k)]) + ", not " +
                                std::to_string(wanted));
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = 0;
    try {
        go_round(hocket::Agent::automatic);
        go_round(hocket::Agent::thread);
        if (rank == 0) std::printf("flow: %d tokens went round %d processes\n", tokens, size);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "flow: process %d: %s\n", rank, error.what());
        wrong = 1;
    }
    MPI_Finalize();
    return wrong;
}
