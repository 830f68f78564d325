// SPDX-License-Identifier: BSD-3-Clause
// Flows where there are no threads of the operating system: tokens go round all simulated
// processes, each of which adds one; what is asked for in threads is left out. Steps compute side
// by side on simulated processors. The exit code is not zero where a token or a time is wrong.
#include "hocket/flow.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/binding.hpp"
#include "hocket/mpi.hpp"
#include "hocket/transfer.hpp"
#include "start.hpp"

namespace {

using hocket::flow::compute;

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

void expect(double seconds, double wanted, const char* what) {
    if (std::abs(seconds - wanted) > 1e-3)
        throw hocket::Error(std::string(what) + " after " + std::to_string(seconds) + " s, not " +
                            std::to_string(wanted));
}

// Half a second after its begin, each even process gets a message from the next one.
template <class Insert>
double seconds_on_two_processors(Insert&& insert) {
    hocket::FlowOptions options;
    options.workers = 2;
    const double begin = simulated::all_start(1e-3);
    if (rank % 2 == 1) {
        usleep(500000);
        MPI_Send(&begin, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD);
        return 0;
    }
    hocket::Flow flow(options);
    insert(flow, begin);
    flow.wait();
    return MPI_Wtime() - begin;
}

std::unique_ptr<hocket::Operation> receive_from_next(double& into) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&into, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, &request);
    return hocket::operation(request);
}

// Two steps, or more, that compute, and one that is urgent once a message has come.
void urgent_steps(int steps, bool give_way) {
    double value = 0, urgent = 0;
    const double all = seconds_on_two_processors([&](hocket::Flow& flow, double begin) {
        for (int k = 0; k < steps; ++k)
            flow.task(
                [&flow, give_way] {
                    compute(1);
                    if (!give_way) return;
                    flow.give_way();
                    compute(1);
                },
                {});
        flow.comm([&] { return receive_from_next(value); }, {hocket::writes(region(value))});
        flow.task(
            [&urgent, begin] {
                compute(1);
                urgent = MPI_Wtime() - begin;
            },
            {hocket::reads(region(value))}, {.priority = 1});
    });
    if (rank % 2 == 1) return;
    expect(urgent, 2, "an urgent step ends");
    expect(all, 3, "all steps end");
}

// Steps that wait for their own, whose turns two processors do not hold up.
void nested_steps() {
    double value = 0;
    const double all = seconds_on_two_processors([&](hocket::Flow& flow, double) {
        flow.comm([&] { return receive_from_next(value); }, {hocket::writes(region(value))});
        for (int k = 0; k < 4; ++k)
            flow.task(
                [&flow] {
                    for (int inner = 0; inner < 2; ++inner) flow.task([] { compute(0.5); }, {});
                    flow.wait();
                },
                {});
    });
    if (rank % 2 == 0) expect(all, 2, "nested steps end");
}

// A step that waits for a message, beside two that compute.
void waiting_step(bool pauses) {
    double value = 0, last = 0;
    seconds_on_two_processors([&](hocket::Flow& flow, double begin) {
        const auto waits = [&] { hocket::wait(*receive_from_next(value)); };
        if (pauses)
            flow.blocking_task(waits, {});
        else
            flow.task(waits, {});
        for (int k = 0; k < 2; ++k)
            flow.task(
                [&last, begin] {
                    compute(1);
                    last = MPI_Wtime() - begin;
                },
                {});
    });
    if (rank % 2 == 1) return;
    if (pauses)
        expect(last, 1, "both steps end beside one that pauses");
    else if (last < 1.5)
        throw hocket::Error("steps have the processor of one that waits: the last ends after " +
                            std::to_string(last) + " s");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = 0;
    try {
        // From a first collective call on, what ends in simulated time wakes its process at once.
        double number = rank, all = 0;
        const hocket::Comm comm = hocket::from_mpi(MPI_COMM_WORLD);
        const hocket::Layout layout({1}, "(*)", {1});
        hocket::redistribute(hocket::Array::wrap(&number, layout, hocket::dtype_of<double>(), comm),
                             hocket::Array::wrap(&all, layout, hocket::dtype_of<double>(), comm));
        go_round(hocket::Agent::automatic);
        go_round(hocket::Agent::thread);
        urgent_steps(4, false);
        urgent_steps(2, true);
        nested_steps();
        waiting_step(false);
        waiting_step(true);
        if (rank == 0) std::printf("flow: %d tokens went round %d processes\n", tokens, size);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "flow: process %d: %s\n", rank, error.what());
        wrong = 1;
    }
    MPI_Finalize();
    return wrong;
}
