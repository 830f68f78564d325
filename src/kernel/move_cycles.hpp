// SPDX-License-Identifier: BSD-3-Clause
// Moving the blocks of an array along the cycles of a permutation, in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "kernel/cycle_finder.hpp"
#include "kernel/permutation.hpp"
#include "kernel/schedule.hpp"

namespace hocket::kernel {

/// Where the blocks of a permutation lie: rows of `in_row` blocks, the rows `pitch` bytes apart.
struct BlockPositions {
    std::int64_t block;                  // bytes
    std::int64_t in_row = 0, pitch = 0;  // 0: all blocks lie one after another

    static BlockPositions dense(std::int64_t block) { return {block, 0, 0}; }
    bool gaps() const { return in_row > 0; }
    std::int64_t at(std::int64_t place) const {
        return gaps() ? place / in_row * pitch + place % in_row * block : place * block;
    }
};

/// How a pass is to be run.
struct Pass {
    int threads = 1;
    Schedule schedule;
    bool whole_table = false;  // find all cycles before the first moves, as the paper does
};

/// What is done to the segments of cycles, for each slice of the array: an item of the batch, or a
/// piece of each of its blocks.
struct CycleWork {
    using Call = std::function<void(std::int64_t slice, std::span<const Segment> segments)>;
    Call begin;  // before segments of a slice are shared out, with all of them; those may be cut
    Call move;   // some of them, on any thread
};

/// Finds the cycles and hands them out: whole ones slice by slice where these keep all threads
/// busy, else shared out within each slice, and cut into segments where no schedule was asked for,
/// so that few long cycles keep all threads busy, too.
void hand_out_cycles(const Permutation& permutation, std::int64_t block, const Pass& pass,
                     const Ring& ring, const CycleWork& work);

/// Permutes blocks in place along their cycles. Blocks larger than `largest_piece` are moved in
/// pieces, so that the vacancy's contents need little room.
void move_cycles(std::byte* array, const Permutation& permutation, const BlockPositions& places,
                 const Pass& pass, const Ring& ring = {});

/// Bytes that move_cycles needs beyond the array.
std::int64_t move_cycles_memory(const Permutation& permutation, const BlockPositions& places,
                                const Pass& pass, const Ring& ring = {});

inline constexpr std::int64_t largest_piece = 64 << 10;

}  // namespace hocket::kernel
