// SPDX-License-Identifier: BSD-3-Clause
// One pass over an array in place, panel by panel, each through a buffer in cache. It makes long
// blocks, which cycles then move at the speed of memory, or divides them afterwards.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/move_cycles.hpp"
#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// An array of `outer` items, each (extent, inner) units of `unit` bytes, whose `extent` is split
/// into `parts` of `width` and a remainder that stays outside:
///
/// gathering:  (outer, parts, width, inner) -> places of blocks (outer, parts, inner) x width
/// scattering: places of blocks (outer, parts, inner) x width -> (outer, parts, width, inner)
///
/// Without a remainder the places lie one after another. With one, they are those that the blocks
/// have in the array of which `extent` is the fastest dimension: `parts` blocks a row, rows
/// `extent` units long. The gaps then belong to the remainder, which the caller saves before and
/// writes after. Panels move by less than one panel, up when gathering and down when scattering:
/// taken from that end, each lands where its neighbours have been read.
struct Panels {
    std::int64_t outer, extent, width, inner, unit;

    std::int64_t parts() const { return extent / width; }
    std::int64_t remainder() const { return extent % width; }
    std::int64_t panel_bytes() const { return width * inner * unit; }
    std::int64_t count() const { return outer * parts(); }
    /// So many leave their columns in the first-level cache.
    static constexpr std::int64_t few_rows = 32;
    /// Whether panels are written to another position than they are read from.
    bool shifted() const { return remainder() > 0; }
    BlockPositions positions() const;
    /// Bytes of buffers, all threads together.
    std::int64_t memory(int threads) const;

    /// Whether panels can move in rings: each is transposed directly into the position of the one
    /// before it, which has been read; the first one goes through a buffer into the position of the
    /// last. That is less work in cache than a buffer for each. Requires no remainder, and rows of
    /// whole lines, or long ones, where panels share few lines.
    bool rings(bool gathering) const;
    /// The number of panels in a ring, in each of `items` equal parts of the array, or 0.
    std::int64_t ring(bool gathering, std::int64_t items, int threads) const;

    /// With `in_ring` from ring() for as many `items`, all panels end one position further down,
    /// the first of a ring at its end; otherwise each stays at its position.
    void gather(std::byte* array, int threads, std::int64_t in_ring = 0,
                std::int64_t items = 1) const;
    void scatter(std::byte* array, int threads, std::int64_t in_ring = 0,
                 std::int64_t items = 1) const;
};

/// Permutes the blocks of each item of the batch through a buffer of the item's size: one pass.
void permute_slabs(std::byte* array, const Permutation& permutation, int threads);

}  // namespace hocket::kernel
