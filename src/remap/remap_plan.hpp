// SPDX-License-Identifier: BSD-3-Clause
// One process's plan to permute a distributed array within its own memory: He and Ding, "MPI and
// OpenMP Paradigms on Cluster of SMP Architectures", section 3.2, for any dimensions, any
// arrangement and uneven blocks. Pure data, without communication.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hocket/layout.hpp"
#include "kernel/inplace.hpp"
#include "transfer/schedule.hpp"

namespace hocket::remap {

/// Permutations of contiguous parts of the local array, each with its part's offset in bytes.
using LocalPermutations = std::vector<std::pair<std::int64_t, kernel::Inplace>>;

/// Permutations of the local array, then an all-to-all in place: G1 and G2 of the paper. A last
/// stage without an exchange is G3; in between, the G3 of one stage and the G1 of the next are one
/// permutation.
///
/// Before the exchange, chunks are in the order of their receivers; after it, in that of their
/// senders. The chunk from u to v has a_u b_v bytes for some numbers a and b of each member.
/// Invariant: surpluses (of one direction over the other) never flow in a cycle, because they flow
/// from a smaller b/a to a larger one.
struct RemapStage {
    LocalPermutations permutations;
    std::vector<int> members;                   // processes of the layout; none: no exchange
    std::size_t own = 0;                        // this process's index among them
    std::vector<std::int64_t> sends, receives;  // bytes, one a member
    /// Runs of each chunk. More than one: all chunks are equal, and are stored as (rows, members,
    /// run); received chunks replace sent ones.
    std::int64_t rows = 1;
    /// Schedules of the exchange of a piece, by runs, bytes of a run, and bytes from run to run.
    /// Made at first use by the thread that drives the engine.
    mutable std::map<std::array<std::int64_t, 3>, std::shared_ptr<const transfer::Schedule>>
        schedules;
};

struct RemapPlan {
    std::vector<RemapStage> stages;
    std::int64_t room = 0;  // the most bytes of array memory that it needs
    std::string methods;    // the method of each exchange, which all processes must share
};

/// Process `process`'s part; -1: a process outside of the layout, which does nothing. `methods`:
/// the choice of another process, because caches and threads may differ.
/// @throws LayoutError as Arrangement does; Error if no method fits the bounded memory.
RemapPlan plan_remap(const Layout& layout, std::span<const std::int64_t> axes, std::int64_t process,
                     std::int64_t itemsize, int threads, const std::string& methods = {});
/// From a cache.
std::shared_ptr<const RemapPlan> cached_remap(const Layout& layout,
                                              std::span<const std::int64_t> axes,
                                              std::int64_t process, std::int64_t itemsize,
                                              int threads, const std::string& methods = {});

}  // namespace hocket::remap
