// SPDX-License-Identifier: BSD-3-Clause
// The operations of a team whose processes share no memory, each beside MPI's own: every result is
// right, and how long it takes in simulated time, as one line of JSON, which `hocket bench
// simulate team` reads.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/mpi.hpp"
#include "hocket/team.hpp"
#include "start.hpp"

namespace {

constexpr int rounds = 5;

// Seconds of one operation, of the slowest process.
double timed(const std::function<void()>& operation) {
    operation();  // the first one opens what stays open
    double began = simulated::all_start(0.1);
    for (int i = 0; i < rounds; ++i) operation();
    double mine = (MPI_Wtime() - began) / rounds, slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

void require(bool right, const char* what) {
    if (!right) throw hocket::Error(std::string(what) + ": the result is wrong");
}

void measure() {
    const hocket::Team team(hocket::Comm::world());
    const std::int64_t me = team.process(), size = team.size(), sum = size * (size - 1) / 2;
    std::vector<std::int64_t> all(static_cast<std::size_t>(size));
    const auto check_all = [&](const char* what) {
        for (std::int64_t p = 0; p < size; ++p)
            require(std::exchange(all[static_cast<std::size_t>(p)], -1) == 3 * p, what);
    };
    const std::int64_t said = 3 * me;
    const std::vector<std::pair<const char*, std::function<void()>>> operations{
        {"MPI_Barrier", [] { MPI_Barrier(MPI_COMM_WORLD); }},
        {"wait", [&] { team.wait(); }},
        {"MPI_Allreduce",
         [&] {
             std::int64_t found = 0;
             MPI_Allreduce(&me, &found, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
             require(found == sum, "MPI_Allreduce");
         }},
        {"reduce_add", [&] { require(team.reduce_add(me) == sum, "reduce_add"); }},
        {"MPI_Allgather",
         [&] {
             MPI_Allgather(&said, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
             check_all("MPI_Allgather");
         }},
        {"gather", [&] {
             team.gather(said, std::span<std::int64_t>(all));
             check_all("gather");
         }}};
    std::string line;
    for (const auto& [name, operation] : operations) {
        char text[64];
        std::snprintf(text, sizeof text, "%s\"%s\": %.9g", line.empty() ? "" : ", ", name,
                      timed(operation));
        line += text;
    }
    if (me == 0) std::printf("{\"seconds\": {%s}}\n", line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        measure();
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
