// SPDX-License-Identifier: BSD-3-Clause
// Moves the blocks of an array along the cycles of a permutation, in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "kernel/cycle_finder.hpp"
#include "kernel/loop_schedule.hpp"
#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// The memory positions of a permutation's blocks: rows of `in_row` blocks, `pitch` bytes apart.
struct BlockPositions {
    std::int64_t block;                  // bytes
    std::int64_t in_row = 0, pitch = 0;  // 0: all blocks are contiguous

    static BlockPositions dense(std::int64_t block) { return {block, 0, 0}; }
    bool gaps() const { return in_row > 0; }
    std::int64_t at(std::int64_t position) const {
        return gaps() ? position / in_row * pitch + position % in_row * block : position * block;
    }
};

/// Options of a pass.
struct Pass {
    int threads = 1;
    LoopSchedule schedule;
    bool whole_table = false;  // find all cycles before the first move, as in the paper
};

/// The work for segments of cycles, for each slice of the array: an item of the batch, or a part of
/// each of its blocks.
struct CycleWork {
    using Call = std::function<void(std::int64_t slice, std::span<const Segment> segments)>;
    Call begin;  // before segments of a slice are distributed, with all of them; cycles may be
                 // divided
    Call move;   // for some of them, on any thread
};

/// Finds the cycles and distributes them over threads. It distributes whole cycles slice by slice
/// if that keeps all threads busy, else within each slice. Without a requested schedule it divides
/// cycles into segments, so that few long cycles keep all threads busy, too.
void hand_out_cycles(const Permutation& permutation, std::int64_t block, const Pass& pass,
                     const Ring& ring, const CycleWork& work);

/// Permutes blocks in place along their cycles. Moves blocks larger than `largest_piece` in parts,
/// so that the buffer for the vacancy stays small.
void move_cycles(std::byte* array, const Permutation& permutation, const BlockPositions& positions,
                 const Pass& pass, const Ring& ring = {});

/// Bytes that move_cycles needs beyond the array.
std::int64_t move_cycles_memory(const Permutation& permutation, const BlockPositions& positions,
                                const Pass& pass, const Ring& ring = {});

inline constexpr std::int64_t largest_piece = 64 << 10;

}  // namespace hocket::kernel
