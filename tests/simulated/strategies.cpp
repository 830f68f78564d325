// SPDX-License-Identifier: BSD-3-Clause
// An array sent from one half of the simulated processes to the other by each strategy: every
// element arrives, in as many messages as the plan has, and how long it takes in simulated time.
//
// With a file whose lines are two layouts and a strategy it is what
// `hocket bench strategies --place simulated` starts; smpirun splits arguments at their spaces.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/mpi.hpp"
#include "hocket/plan.hpp"
#include "hocket/task.hpp"
#include "hocket/transfer.hpp"
#include "start.hpp"

namespace {

using hocket::Array;
using hocket::Layout;

constexpr int starts = 3;  // the first one opens what stays open

// For each local element, in order: its place, and the number of its global element.
template <class Function>
void each(const Array& array, Function function) {
    const auto indices = array.layout().global_indices(array.process());
    const std::int64_t columns = array.layout().shape()[1];
    auto* const elements = static_cast<double*>(array.data());
    std::size_t place = 0;
    for (const auto i : indices[0])
        for (const auto j : indices[1])
            function(elements[place++], static_cast<double>(i * columns + j));
}

struct Outcome {
    double seconds;
    std::int64_t messages, wanted;
    bool right;
};

Outcome send(hocket::Tasks& world, const Layout& source, const Layout& destination,
             const std::string& strategy) {
    const bool sends = world.rank() == 0;
    const Array array =
        Array::empty(sends ? source : destination, hocket::dtype_of<double>(), world.comm());
    each(array, [&](double& element, double number) { element = sends ? number : -1; });
    hocket::InitOptions options;
    options.strategy = strategy;
    auto request = sends ? world.send_init(array, 1, options) : world.recv_init(array, 0, options);
    double took = 0;
    std::int64_t messages = 0;
    for (int start = 0; start < starts; ++start) {
        const double begun = simulated::all_start(0.01);
        const std::int64_t before = hocket::transfer_counts().sent;
        request.start();
        request.wait();
        took = MPI_Wtime() - begun;
        messages = hocket::transfer_counts().sent - before;
    }
    request.free();
    int right = 1;
    each(array, [&](double& element, double number) { right &= element == number ? 1 : 0; });
    double slowest = 0;
    std::int64_t sum = 0;
    int all_right = 0;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&messages, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    hocket::plan::Options plan_options;
    plan_options.strategy = strategy;
    const std::int64_t wanted = hocket::Plan(source, destination, plan_options).message_count();
    return {slowest, sum, wanted, all_right == 1};
}

// Whether each strategy did what it promises.
bool run(const Layout& source, const Layout& destination,
         const std::vector<std::string>& strategies) {
    const hocket::Comm comm = hocket::from_mpi(MPI_COMM_WORLD);
    const std::array<hocket::TaskRequest, 2> requests{
        {{"sender", source.size()}, {"receiver", destination.size()}}};
    hocket::Tasks world(requests, comm);
    bool good = true;
    for (const auto& strategy : strategies) {
        const Outcome outcome = send(world, source, destination, strategy);
        good = good && outcome.right && outcome.messages == outcome.wanted;
        if (comm.rank() == 0)
            std::printf(
                "{\"strategy\": \"%s\", \"seconds\": %.9f, \"messages\": %lld, \"planned\": %lld, "
                "\"right\": %s}\n",
                strategy.c_str(), outcome.seconds, static_cast<long long>(outcome.messages),
                static_cast<long long>(outcome.wanted), outcome.right ? "true" : "false");
    }
    return good;
}

bool run(int argc, char** argv) {
    if (argc == 2) {
        std::ifstream file(argv[1]);
        std::array<std::string, 3> lines;
        for (auto& line : lines) std::getline(file, line);
        if (!file) throw hocket::Error(std::string(argv[1]) + " has not three lines");
        return run(Layout::parse(lines[0]), Layout::parse(lines[1]), {lines[2]});
    }
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const Layout rows({37, 29}, "(BLOCK, *)", {size / 2});
    const Layout columns({37, 29}, "(*, CYCLIC(3))", {size - size / 2});
    return run(rows, columns, {"direct", "centralized", "staged", "multistage", "hybrid"});
}

}  // namespace

int main(int argc, char** argv) {
    return simulated::program(argc, argv, [&] { return run(argc, argv) ? 0 : 1; });
}
