// SPDX-License-Identifier: BSD-3-Clause
// New subsets of processes: a mask of a team beside a communicator of MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "hocket/mpi.hpp"
#include "team_contest.hpp"

namespace hocket_bench {

/// A communicator of the processes from `first` to `last`, its first barrier, its end.
inline void create_group(const World& world, int first, int last) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm part = MPI_COMM_NULL;
    int range[1][3] = {{first, last, 1}};
    MPI_Comm_group(world.comm, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Comm_create_group(world.comm, some, 0, &part);
    MPI_Barrier(part);
    MPI_Comm_free(&part);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

/// Teams, each for one call, whose memory has been used, but without any mask.
class FreshTeams {
  public:
    void make(std::int64_t count) {
        teams_.clear();
        used_ = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            teams_.emplace_back(hocket::from_mpi(MPI_COMM_WORLD));
            teams_.back().wait();  // both cells of each process
            teams_.back().wait();
        }
    }
    const hocket::Team& next() { return teams_.at(used_++); }

  private:
    std::vector<hocket::Team> teams_;
    std::size_t used_ = 0;
};

inline hocket::Mask mask_of(int first, int last) {
    hocket::Mask mask;
    for (int p = first; p <= last; ++p) mask.add(p);
    return mask;
}

inline void subsets(const World& world) {
    const hocket::Team& team = *world.team;
    const int last = world.size - 1;
    const hocket::Mask everyone = mask_of(0, last);
    compare(world, "2", "enqueue and its first wait", "-",
            {nothing("MPI", [&world, last] { create_group(world, 0, last); }),
             nothing("hocket", [&team, everyone] { team.enqueue(everyone).wait(); })});

    // Each half of the processes at once.
    const int middle = (world.size + 1) / 2;
    const int from = world.rank < middle ? 0 : middle, to = world.rank < middle ? middle - 1 : last;
    const auto fresh = std::make_shared<FreshTeams>();
    Contestant unseen = nothing(
        "hocket", [fresh, half = mask_of(from, to)] { fresh->next().enqueue(half).wait(); });
    unseen.most_calls = 128;
    unseen.prepare = [fresh](std::int64_t calls) { fresh->make(calls); };
    compare(world, "2", "enqueue of a half never used before, and its first wait", "-",
            {nothing("MPI", [&world, from, to] { create_group(world, from, to); }), unseen});
}

}  // namespace hocket_bench
