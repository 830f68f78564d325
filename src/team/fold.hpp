// SPDX-License-Identifier: BSD-3-Clause
// What operations compute of values, which come as the bits that travel. No communication.
#pragma once

#include <cstdint>
#include <span>

#include "hocket/team.hpp"

namespace hocket::team {

using Fold = std::uint64_t (*)(std::uint64_t, std::uint64_t);
/// The fold behind a wait, waitvec, any, all, bcast, reduce_… or scan_…; nullptr where there is
/// none (and, or of floating-point numbers; operations that fold nothing).
Fold fold_of(Op op, Type type);

int bits_in(Type type);
const char* name_of(Type type);
const char* name_of(Op op);

/// Whether processes need all values to know the result, and not only what they fold to.
bool needs_all(Op op);
/// Whether each needs what the values up to its own fold to.
bool scans(Op op);

/// The result, where that is one value, of the values of all, in order. `me`: my place among them.
/// `source`: whose value is asked for, as a place (putget), or whom the values are votes for, as a
/// process's number (vote_count).
std::uint64_t result_of(Op op, Type type, std::span<const std::uint64_t> values, std::size_t me,
                        std::size_t source);

/// Whether the value at `member` stands for a one in the mask that is the result of waitvec (where
/// values are flags), vote (for process `me`), or match (with the value `mine`).
bool chosen(Op op, Type type, std::uint64_t value, std::uint64_t mine, int me);

}  // namespace hocket::team
