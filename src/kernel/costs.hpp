// SPDX-License-Identifier: BSD-3-Clause
// Figures that differ between processors: the cost of passes over an array in place, by which
// hocket selects a plan (1 reads and writes the array once, as memcpy does), and the distances of
// kernels.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernel/permutation.hpp"
#include "kernel/stream.hpp"

namespace hocket::kernel {

/// Costs by a number of bytes, measured at a few: (bytes, cost), in order. Between two of them, the
/// time of one block changes linearly, and beyond them the cost is constant.
using CostCurve = std::vector<std::pair<std::int64_t, double>>;

/// Distances and sizes that no result depends on, in bytes.
struct Distances {
    /// Prefetched before short and before long blocks of cycles.
    std::int64_t short_ahead = 16 << 10, long_ahead = 256 << 10;
    /// Longer blocks of cycles are prefetched in parts, while others move.
    std::int64_t short_block = 512;
    /// Blocks of cycles that are at least as long are prefetched two at a time, into the second
    /// level, where shorter ones go into the first.
    std::int64_t paired_block = 6 << 10;
    /// Smaller arrays stay in the last level of caches, near enough to be fetched later.
    std::int64_t far_array = 16 << 20;
    /// Prefetched before panels in rings.
    std::int64_t ring_ahead = 64 << 10;
    /// Panels in rings are at most as long, or as a fifth of the second level.
    std::int64_t ring_panel = 64 << 10;
    /// Rows of panels in rings are whole lines, or at least as long.
    std::int64_t ring_row = 16 << 20;
    /// Panels of more than a few rows that are at least as long, and that nothing else prefetches,
    /// prefetch their own rows.
    std::int64_t long_panel = 16 << 20;
    /// Rows of a tile's destination that stay in the first-level cache, in a panel.
    std::int64_t panel_row = 4096;
    /// A square tile that is transposed in the first-level cache, and each of two that change
    /// places.
    std::int64_t small_tile = 10 << 10, pair_tile = 288 << 10;
    /// In far arrays, pairs of tiles that are at most as large are prefetched while the pair before
    /// them changes places.
    std::int64_t fetched_tile = 64;
    /// Panels that are at least as long are written back past the caches, which have lost their
    /// lines.
    std::int64_t past_panel = 16 << 20;
    /// The first-level cache.
    std::int64_t near_cache = 32 << 10;
    /// Read of each row of the source at once, by tiles of a copy if all rows of the destination
    /// begin at the same units of cache lines.
    std::int64_t copy_piece = 512;
    /// Prefetched before the tiles of a copy.
    std::int64_t copy_ahead = 4096;
    /// Smaller copies do not go past the caches, nor do those smaller than twice the second level:
    /// the last level holds source and destination.
    std::int64_t streamed_copy = 64;
    /// So many bytes of a long run, in whole pages, go past the caches at once. Several streams
    /// keep more of the memory's banks and of the prefetchers busy; a Zen 3 loses its lines half
    /// written then, and takes six times as long. (Measured.)
    std::int64_t abreast = 4096;
    /// Copies beyond the caches that go past them.
    Streaming streaming = Streaming::all;
    Fetching fetching = Fetching::second_level;
};

/// Those of this processor; while they are measured, those on trial.
const Distances& distances();
void try_distances(const Distances* trial);

/// The costs of each kind of pass on one core of a processor, and its distances.
struct PassCosts {
    std::string processor;
    std::string origin{};    // for `hocket info`
    std::int64_t cache = 0;  // bytes of its second-level cache
    /// Blocks of so many bytes in arbitrary order.
    CostCurve scattered;
    /// Panels of so many bytes through a buffer.
    CostCurve buffered;
    /// Panels of so many bytes in rings.
    CostCurve ringed;
    /// Square tiles with rows of so many bytes, of 8-byte units, transposed in place in cache.
    CostCurve turned;
    /// Square tiles with rows of so many bytes, transposed in rings and moved to rows of another
    /// length. Empty where that has not been measured.
    CostCurve shifted{};
    /// The same without the move. Empty where that has not been measured.
    CostCurve tiled{};
    /// Pairs of square tiles of several: in cache, or past the caches if these do not hold the
    /// rows; or pairs of small tiles through two buffers, on a core that fetches into its first
    /// level.
    double swapped_in_cache = 0, swapped_past = 0, swapped_apart = 0;
    /// Blocks that move by some KiB to rows of another length, in order.
    double moved = 1.0;
    /// Cycles in more than two dimensions, whose successive blocks lie farther apart: over the
    /// bytes of a block.
    double apart = 50;
    /// Panels of many rows through a buffer, from `long_panel` on, cost more, because few columns
    /// of these stay in the first-level cache.
    double wide_panel = 0.001;
    /// Slabs of matrices cost more than panels, unless the core fetches into its first level, and
    /// so do slabs and groups of tensors, whose copies take more instructions: over the bytes of a
    /// unit.
    double slab_steps = 4.0, copy_steps = 0.001;
    /// Tiles in rings cost more: by `ring_start` for a band of one tile, which nothing prefetches,
    /// and by `ring_waiting` if all of them wait in a buffer; by `ring_crowded` if two share sets
    /// of the first-level cache, and twice that if it does not hold them; and for rows that are no
    /// whole lines by `ring_parts`, over their bytes. Cycles that translate positions cost more by
    /// `ring_steps`, over the bytes of a block.
    double ring_start = 1.0, ring_waiting = 0.7, ring_crowded = 0.15, ring_parts = 24,
           ring_steps = 40;
    /// Cycles in arrays of 512 MiB and more, whose tables of pages leave the caches: over the bytes
    /// of a block.
    double vast_steps = 1000;
    Distances distances{};

    /// Lines of "name bytes = cost" and "name = bytes", as in the file of `hocket calibrate`; #
    /// begins a comment.
    std::string text() const;
    /// @throws Error that names the line.
    static PassCosts parse(const std::string& text);
    /// Measures each of them so many times, with one thread; takes 0.7 GiB.
    static PassCosts measure(int repeat);
    /// Those measured for this kind of processor, or for the nearest one.
    static PassCosts shipped();
    static PassCosts zen3();
    static PassCosts zen5();
    /// Those in the file of `hocket calibrate`, else the shipped ones. Read once. @throws Error for
    /// a file that holds no costs.
    static const PassCosts& kept();
    /// The file: that of the model of messages, with the ending ".passes".
    static std::string kept_path();
};

/// Arrays whose tables of pages do not stay in the caches.
constexpr std::int64_t least_vast = 512 << 20;

/// Costs that take the place of the kept ones, with their distances, until nullptr does.
void try_costs(const PassCosts* trial);
/// Whether other costs or distances than the kept ones choose plans now.
bool on_trial();

/// Blocks of so many bytes that cycles of a permutation of so many dimensions move.
double scattered(std::int64_t block, std::size_t dimensions, bool cached = false);
double buffered(std::int64_t bytes);
double ringed(std::int64_t bytes);
/// Tiles in rings that make blocks of so many bytes, or take them apart, moved to rows of another
/// length or within their band; infinite where it has not been measured.
double shifted(std::int64_t block);
double tiled(std::int64_t block);
/// Slabs of matrices or tensors of blocks, each through a buffer.
double slabs(std::int64_t bytes, const std::vector<std::int64_t>& extents, std::int64_t block);
/// The cost of a copy of a tensor in a cache, beside panels.
double copied(std::int64_t unit);
/// Transposes square tiles of `side` units of `unit` bytes in place, in cache.
double transposed_tiles(std::int64_t unit, std::int64_t side);
double swapped_tiles(bool held);
double swapped_apart();

/// An array that stays in the second-level cache, where the number of copies dominates the cost.
bool fits_cache(const Permutation& permutation);

std::string size_text(std::int64_t bytes);

}  // namespace hocket::kernel
