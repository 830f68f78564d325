// SPDX-License-Identifier: BSD-3-Clause
// Blocks that keep their order while their rows take another length, in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernel/move_cycles.hpp"

namespace hocket::kernel {

/// Moves `count` blocks from one set of positions to another, both in order. Some move up and some
/// down. Invariant: blocks that move up end before the next that moves down, because both sets keep
/// the order.
struct MovedRows {
    BlockPositions from, to;
    std::int64_t count;

    class Range;
    /// The farthest that any block moves, in bytes, or somewhat more.
    std::int64_t distance() const;
    /// Bytes of buffers, all threads together.
    std::int64_t memory(int threads) const;
    void run(std::byte* array, int threads) const;
};

/// The blocks of one thread. Those that leave its bytes of the array wait in a buffer until all
/// threads have read theirs. Invariant: it writes only between its first and its last destination.
class MovedRows::Range {
  public:
    Range(const MovedRows& of, std::int64_t first, std::int64_t last);

    std::int64_t waiting_bytes() const { return below_ + above_; }
    /// Some of its blocks, after those on the side to which they move.
    void move(std::byte* array, std::int64_t first, std::int64_t last);
    void write_waiting(std::byte* array) const;

  private:
    std::int64_t row_end(std::int64_t block) const;
    std::int64_t row_begin(std::int64_t block) const;
    void move_piece(std::byte* array, std::int64_t first, std::int64_t last);

    const MovedRows& of_;
    std::int64_t begin_, end_;            // bytes of the array
    std::int64_t below_at_, above_at_;    // the first destinations below and above it
    std::int64_t below_ = 0, above_ = 0;  // bytes of destinations there
    std::unique_ptr<std::byte[]> waiting_;
};

}  // namespace hocket::kernel
