// SPDX-License-Identifier: BSD-3-Clause
// The operations of teams (Tables 2 to 20 of the PAPERS paper) beside MPI's and raw flags, without
// Python in the loop. `--types int64,float64`. Started like a C program: MPI_Init.
#include "hocket/team.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "harness.hpp"
#include "hocket/mpi.hpp"
#include "mpi_group.hpp"
#include "team_contest.hpp"
#include "team_subsets.hpp"

namespace {

using hocket::Team;
using hocket_bench::compare;
using hocket_bench::Flags;
using hocket_bench::nothing;
using hocket_bench::number;
using hocket_bench::World;

void barriers(const World& world) {
    const bool crowded = world.size > static_cast<int>(std::thread::hardware_concurrency());
    const auto flags = std::make_shared<Flags>(world.comm);
    const Team& team = *world.team;
    compare(world, "2", "wait", "-",
            {nothing("MPI", [&] { MPI_Barrier(world.comm); }),
             nothing("raw flags", [flags, crowded] { flags->wait(crowded); }),
             nothing("hocket", [&] { team.wait(); })});
    const auto allreduce = [&world](int flag, MPI_Op op) {
        int found = 0;
        MPI_Allreduce(&flag, &found, 1, MPI_INT, op, world.comm);
        return found;
    };
    const int mine = world.rank == 0 ? 1 : 0;
    compare(world, "2", "any", "-",
            {number<int>(
                 "MPI", [=] { return allreduce(mine, MPI_LOR); }, 1),
             number<int>(
                 "hocket", [&team, mine] { return team.any(mine != 0) ? 1 : 0; }, 1)});
    const int whole = world.size == 1 ? 1 : 0;
    compare(world, "2", "all", "-",
            {number<int>(
                 "MPI", [=] { return allreduce(mine, MPI_LAND); }, whole),
             number<int>(
                 "hocket", [&team, mine] { return team.all(mine != 0) ? 1 : 0; }, whole)});
    auto bits = std::make_shared<std::vector<char>>(static_cast<std::size_t>(world.size));
    compare(
        world, "2", "waitvec", "-",
        {number<int>(
             "MPI",
             [&world, bits, mine] {
                 const char flag = static_cast<char>(mine);
                 MPI_Allgather(&flag, 1, MPI_CHAR, bits->data(), 1, MPI_CHAR, world.comm);
                 return static_cast<int>((*bits)[0]);
             },
             1),
         number<int>(
             "hocket", [&team, mine] { return team.waitvec(mine != 0).contains(0) ? 1 : 0; }, 1)});
}

template <class T>
void of_type(const World& world, const std::string& type, MPI_Datatype kind) {
    const Team& team = *world.team;
    const int size = world.size, rank = world.rank, next = (rank + 1) % size;
    const auto mine = static_cast<T>(rank + 1);
    const auto sum = static_cast<T>(size * (size + 1) / 2);
    const auto upto = static_cast<T>((rank + 1) * (rank + 2) / 2);
    const auto into = std::make_shared<std::vector<T>>(static_cast<std::size_t>(size));

    compare(world, "3", "putget", type,
            {number<T>(
                 "MPI",
                 [=, &world] {
                     T found{};
                     MPI_Sendrecv(&mine, 1, kind, (rank + size - 1) % size, 1, &found, 1, kind,
                                  next, 1, world.comm, MPI_STATUS_IGNORE);
                     return found;
                 },
                 static_cast<T>(next + 1)),
             number<T>(
                 "hocket", [&team, mine, next] { return team.putget(mine, next); },
                 static_cast<T>(next + 1))});
    const auto gathered = [=, &world] {
        MPI_Allgather(&mine, 1, kind, into->data(), 1, kind, world.comm);
        return (*into)[static_cast<std::size_t>(size - 1)];
    };
    compare(world, "4", "gather", type,
            {number<T>("MPI", gathered, static_cast<T>(size)),
             number<T>(
                 "hocket",
                 [&team, mine, into] {
                     team.gather(mine, std::span<T>(*into));
                     return into->back();
                 },
                 static_cast<T>(size))});
    const auto reduced = [=, &world](MPI_Op op) {
        T found{};
        MPI_Allreduce(&mine, &found, 1, kind, op, world.comm);
        return found;
    };
    const auto scanned = [=, &world](MPI_Op op) {
        T found{};
        MPI_Scan(&mine, &found, 1, kind, op, world.comm);
        return found;
    };
    compare(world, "5", "reduce_add", type,
            {number<T>(
                 "MPI", [=] { return reduced(MPI_SUM); }, sum),
             number<T>(
                 "hocket", [&team, mine] { return team.reduce_add(mine); }, sum)});
    T product = 1, partial = 1;
    for (int p = 1; p <= size; ++p) {
        product = static_cast<T>(product * static_cast<T>(p));
        if (p <= rank + 1) partial = product;
    }
    compare(world, "6", "reduce_mul", type,
            {number<T>(
                 "MPI", [=] { return reduced(MPI_PROD); }, product),
             number<T>(
                 "hocket", [&team, mine] { return team.reduce_mul(mine); }, product)});
    compare(world, "7", "reduce_min", type,
            {number<T>(
                 "MPI", [=] { return reduced(MPI_MIN); }, T(1)),
             number<T>(
                 "hocket", [&team, mine] { return team.reduce_min(mine); }, T(1))});
    compare(world, "8", "reduce_max", type,
            {number<T>(
                 "MPI", [=] { return reduced(MPI_MAX); }, static_cast<T>(size)),
             number<T>(
                 "hocket", [&team, mine] { return team.reduce_max(mine); }, static_cast<T>(size))});
    const auto broadcast = [=, &world] {
        T value = mine;
        MPI_Bcast(&value, 1, kind, 0, world.comm);
        return value;
    };
    compare(
        world, "11", "bcast", type,
        {number<T>("MPI", broadcast, T(1)), with_barrier<T>(world, broadcast, T(1)),
         number<T>(
             "hocket",
             [&team, mine, rank] { return rank == 0 ? team.bcast_put(mine) : team.bcast_get<T>(); },
             T(1)),
         number<T>(
             "hocket putget, no barrier",
             [&team, mine] { return team.putget(mine, 0, {.barrier = false}); }, T(1))});
    compare(world, "12", "scan_add", type,
            {number<T>(
                 "MPI", [=] { return scanned(MPI_SUM); }, upto),
             with_barrier<T>(
                 world, [=] { return scanned(MPI_SUM); }, upto),
             number<T>(
                 "hocket", [&team, mine] { return team.scan_add(mine); }, upto),
             number<T>(
                 "hocket, no barrier",
                 [&team, mine] { return team.scan_add(mine, {.barrier = false}); }, upto)});
    compare(world, "13", "scan_mul", type,
            {number<T>(
                 "MPI", [=] { return scanned(MPI_PROD); }, partial),
             with_barrier<T>(
                 world, [=] { return scanned(MPI_PROD); }, partial),
             number<T>(
                 "hocket", [&team, mine] { return team.scan_mul(mine); }, partial)});
    compare(world, "16", "scan_min", type,
            {number<T>(
                 "MPI", [=] { return scanned(MPI_MIN); }, T(1)),
             with_barrier<T>(
                 world, [=] { return scanned(MPI_MIN); }, T(1)),
             number<T>(
                 "hocket", [&team, mine] { return team.scan_min(mine); }, T(1))});
    compare(world, "17", "scan_max", type,
            {number<T>(
                 "MPI", [=] { return scanned(MPI_MAX); }, mine),
             with_barrier<T>(
                 world, [=] { return scanned(MPI_MAX); }, mine),
             number<T>(
                 "hocket", [&team, mine] { return team.scan_max(mine); }, mine)});
    compare(world, "18", "rank", type,
            {number<int>(
                 "MPI",
                 [=] {
                     gathered();
                     return static_cast<int>(std::count_if(
                         into->begin(), into->end(), [mine](T other) { return other < mine; }));
                 },
                 rank),
             number<int>(
                 "hocket", [&team, mine] { return team.rank(mine); }, rank)});
    compare(world, "20", "match_count", type,
            {number<int>(
                 "MPI",
                 [=] {
                     gathered();
                     return static_cast<int>(std::count(into->begin(), into->end(), mine));
                 },
                 1),
             number<int>(
                 "hocket", [&team, mine] { return team.match_count(mine); }, 1)});
    if constexpr (std::is_integral_v<T>) {
        T all = ~T(0), some = 0, until = 0;
        for (int p = 1; p <= size; ++p) {
            all = static_cast<T>(all & static_cast<T>(p));
            some = static_cast<T>(some | static_cast<T>(p));
            if (p <= rank + 1) until = some;
        }
        compare(world, "9", "reduce_and", type,
                {number<T>(
                     "MPI", [=] { return reduced(MPI_BAND); }, all),
                 number<T>(
                     "hocket", [&team, mine] { return team.reduce_and(mine); }, all)});
        compare(world, "10", "reduce_or", type,
                {number<T>(
                     "MPI", [=] { return reduced(MPI_BOR); }, some),
                 number<T>(
                     "hocket", [&team, mine] { return team.reduce_or(mine); }, some)});
        compare(world, "15", "scan_or", type,
                {number<T>(
                     "MPI", [=] { return scanned(MPI_BOR); }, until),
                 with_barrier<T>(
                     world, [=] { return scanned(MPI_BOR); }, until),
                 number<T>(
                     "hocket", [&team, mine] { return team.scan_or(mine); }, until)});
    }
}

void votes(const World& world) {
    const Team& team = *world.team;
    compare(world, "19", "population", "-",
            {number<int>(
                "hocket", [&team] { return team.population(); }, world.size)});
    const auto into = std::make_shared<std::vector<int>>(static_cast<std::size_t>(world.size));
    compare(
        world, "20", "vote_count", "-",
        {number<int>(
             "MPI",
             [&world, into] {
                 const int vote = 0;
                 MPI_Allgather(&vote, 1, MPI_INT, into->data(), 1, MPI_INT, world.comm);
                 return static_cast<int>(std::count(into->begin(), into->end(), world.rank));
             },
             world.rank == 0 ? world.size : 0),
         number<int>(
             "hocket", [&team] { return team.vote_count(0); }, world.rank == 0 ? world.size : 0)});
}

void run(int argc, char** argv) {
    const auto arguments = hocket_bench::parse(argc, argv);
    std::string types = "int64,float64";
    for (std::size_t i = 0; i + 1 < arguments.rest.size(); i += 2) {
        if (arguments.rest[i] != "--types")
            throw std::invalid_argument("unknown option " + arguments.rest[i]);
        types = arguments.rest[i + 1];
    }
    World world;
    MPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
    MPI_Comm_rank(world.comm, &world.rank);
    MPI_Comm_size(world.comm, &world.size);
    world.team = std::make_unique<Team>(hocket::from_mpi(MPI_COMM_WORLD));
    world.group = hocket_bench::mpi_group(world.comm);
    world.effort = arguments.effort;
    if (arguments.pin) hocket_bench::pin(world.rank);
    hocket_bench::describe_mpi("hocket_bench_team");
    barriers(world);
    hocket_bench::subsets(world);
    std::istringstream words(types);
    for (std::string type; std::getline(words, type, ',');) {
        if (type == "int8") {
            of_type<signed char>(world, type, MPI_SIGNED_CHAR);
        } else if (type == "int16") {
            of_type<std::int16_t>(world, type, MPI_INT16_T);
        } else if (type == "int32") {
            of_type<std::int32_t>(world, type, MPI_INT32_T);
        } else if (type == "int64") {
            of_type<std::int64_t>(world, type, MPI_INT64_T);
        } else if (type == "float32") {
            of_type<float>(world, type, MPI_FLOAT);
        } else if (type == "float64") {
            of_type<double>(world, type, MPI_DOUBLE);
        } else {
            throw std::invalid_argument("--types " + type + ": int8 to int64, float32, float64");
        }
    }
    votes(world);
    world.team.reset();
    MPI_Comm_free(&world.comm);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hocket_bench_team: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
