// SPDX-License-Identifier: BSD-3-Clause
// The computations of team operations on values, which travel as bits. No communication.
#pragma once

#include <cstdint>
#include <span>

#include "hocket/team.hpp"

namespace hocket::team {

using Fold = std::uint64_t (*)(std::uint64_t, std::uint64_t);
/// The binary operation of a wait, waitvec, any, all, bcast, reduce_… or scan_…; nullptr if there
/// is none (and, or of floating-point numbers; operations that do not fold).
Fold fold_of(Op op, Type type);

int bits_in(Type type);
const char* name_of(Type type);
const char* name_of(Op op);

/// Whether the result depends on the value of each process, not only on their fold.
bool needs_all(Op op);
/// Whether each process needs the fold of the values up to its own.
bool scans(Op op);

/// The result, if it is one value, from the values of all members in order. `me`: this process's
/// index among them. `source`: for putget, the index of the source; for vote_count, the process
/// whose votes to count.
std::uint64_t result_of(Op op, Type type, std::span<const std::uint64_t> values, std::size_t me,
                        std::size_t source);

/// Whether the value at `member` sets a bit in the resulting mask of waitvec (values are flags),
/// vote (for process `me`), or match (with the value `mine`).
bool chosen(Op op, Type type, std::uint64_t value, std::uint64_t mine, int me);

}  // namespace hocket::team
