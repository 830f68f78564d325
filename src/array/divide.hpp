// SPDX-License-Identifier: BSD-3-Clause
// Where to divide the sorted rows of all processes, for sorts in which each process takes a share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hocket/computing.hpp"

namespace hocket::array {

/// This process's rows in order, whatever their keys are.
struct SortedRows {
    std::int64_t bytes = 0;  ///< of a key
    /// Writes the keys of these rows, one after the other.
    std::function<void(std::span<const std::int64_t> rows, std::byte* keys)> pick;
    /// For each key: the number of rows before it, and with those that equal it.
    std::function<void(const std::byte* keys, std::span<std::int64_t> before,
                       std::span<std::int64_t> with_equals)>
        place;
};

/// For each process and each of `wanted`, which increase, in row-major order: how many of its
/// `counts[process]` rows belong to the first `wanted` of all. Of equal rows, those of lower
/// processes come first; if `together`, equal rows are not divided, and the cut is before them.
/// Collective. In a round, a process receives at most 1 + ceil(log2 n) messages (15 on a node of
/// its own) of keys, and as many of their places: of 2048 keys, or of one for each of `wanted` if
/// they are more. The result of all processes is gathered once, at the end, with 16 bytes for each
/// of its numbers.
std::vector<std::int64_t> divide(const Comm& comm, const SortedRows& rows,
                                 std::span<const std::int64_t> counts,
                                 std::span<const std::int64_t> wanted, bool together,
                                 Deadline deadline);

}  // namespace hocket::array
