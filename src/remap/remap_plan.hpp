// SPDX-License-Identifier: BSD-3-Clause
// What one process does to permute a distributed array within its own memory: He and Ding, "MPI
// and OpenMP Paradigms on Cluster of SMP Architectures", section 3.2, for any dimensions, any
// arrangement and uneven blocks. Pure data: nothing communicates here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hocket/layout.hpp"
#include "kernel/inplace.hpp"
#include "transfer/schedule.hpp"

namespace hocket::remap {

/// A permutation of a contiguous part of the local array.
struct LocalPermutation {
    std::int64_t offset;  // bytes
    kernel::Inplace work;
};

/// An all-to-all in place: chunks lie one after another in the order of the members that they go
/// to, and afterwards of those that they came from. From u to v go a_u b_v bytes for some numbers a
/// and b of each member, so that surpluses (of what goes one way over what comes back) only ever
/// flow from a smaller b/a to a larger one, and never in a circle.
struct Exchange {
    std::vector<int> members;                   // processes of the layout
    std::size_t own;                            // which of them this process is
    std::vector<std::int64_t> sends, receives;  // bytes, one a member
    /// Runs of each chunk. More than one: all chunks are equal, and lie as (rows, members, run);
    /// what comes takes the places of what goes.
    std::int64_t rows = 1;
    /// Schedules of the exchange of a piece, by runs, bytes of a run, and bytes from run to run.
    /// Made at first use by the thread that drives the engine.
    mutable std::map<std::array<std::int64_t, 3>, std::shared_ptr<const transfer::Schedule>>
        schedules;
};

/// G1 and G2 of the paper. A last stage without an exchange is G3; in between, the G3 of one stage
/// and the G1 of the next are one turn.
struct Stage {
    std::vector<LocalPermutation> permutations;
    std::optional<Exchange> exchange;
};

struct RemapPlan {
    std::vector<Stage> stages;
    std::int64_t room = 0;  // bytes of array memory that it takes, at most
    std::string methods;    // how each exchange's chunks are made: all processes must do the same
};

/// Process `process`'s part; -1: a process that is not in the layout, and does nothing. `methods`:
/// those of another process, whose caches or threads may have made it choose otherwise.
/// @throws LayoutError as Arrangement does; Error where no way fits the bounded memory.
RemapPlan plan_remap(const Layout& layout, std::span<const std::int64_t> axes, std::int64_t process,
                     std::int64_t itemsize, int threads, const std::string& methods = {});
/// The same, made once.
std::shared_ptr<const RemapPlan> cached_remap(const Layout& layout,
                                              std::span<const std::int64_t> axes,
                                              std::int64_t process, std::int64_t itemsize,
                                              int threads, const std::string& methods = {});

}  // namespace hocket::remap
