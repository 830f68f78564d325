// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "hocket/kernel.hpp"
#include "kernel/box.hpp"
#include "kernel/costs.hpp"
#include "kernel/joined_tiles.hpp"
#include "kernel/nested_tiles.hpp"
#include "kernel/ranges.hpp"
#include "kernel/runs.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

// Both sides of smaller boxes stay in the first-level cache in any order, so that preparing blocks
// would take most of the time.
constexpr std::int64_t most_small_bytes = 8 << 10;

/// The size from which a copy goes past the caches.
std::int64_t streamed_bytes() {
    return std::max(least_streamed_bytes(), distances().streamed_copy);
}

Streaming chosen_streaming(std::int64_t bytes) {
    if (bytes >= streamed_bytes()) return distances().streaming;
    // Rows that evict each other do so in the last level, too. (Measured from 4 MiB on, where the
    // others gain up to 12 MiB.)
    const bool large = bytes >= std::max(least_streamed_bytes(), distances().streamed_copy / 3);
    return large && distances().streaming != Streaming::none ? Streaming::conflicting
                                                             : Streaming::none;
}

/// Longer runs use whole cache lines in any order, so blocking would only add work. Beyond the
/// caches, blocking keeps streamed runs of some lines from touching a page each (measured).
std::int64_t longest_tiled_run(std::int64_t bytes) {
    const bool streamed = bytes >= streamed_bytes() / 2 && distances().streaming == Streaming::all;
    return streamed ? 512 : 128;
}

/// Whether the last loop but one should be the last: in the caches, reading long runs in order
/// takes half of the time that writing them in order does, or the same. (Measured on a Zen 3: 512
/// to 2048 bytes.) A loop that repeats the source does not count.
bool reads_in_order(std::span<const Loop> loops, std::int64_t run) {
    constexpr std::int64_t short_run = 128;
    if (loops.size() < 2 || run <= short_run) return false;
    const std::int64_t before = std::abs(loops[loops.size() - 2].source);
    return before != 0 && before < std::abs(loops.back().source);
}

std::vector<Loop> with_last_two_swapped(std::vector<Loop> loops) {
    std::swap(loops[loops.size() - 2], loops.back());
    return loops;
}

/// The loop with the smallest source stride; the innermost of several. An outer loop that repeats
/// the source (stride 0) does not count.
std::size_t fastest_source_loop(std::span<const Loop> loops) {
    std::size_t fastest = loops.size() - 1;
    for (std::size_t d = loops.size() - 1; d-- > 0;)
        if (loops[d].source != 0 && std::abs(loops[d].source) < std::abs(loops[fastest].source))
            fastest = d;
    return fastest;
}

/// The source in order, as far as its tiles allow.
void sort_by_source(std::span<Loop> loops) {
    std::sort(loops.begin(), loops.end(),
              [](const Loop& a, const Loop& b) { return std::abs(a.source) > std::abs(b.source); });
}

std::size_t longest(std::span<const Loop> loops) {
    const auto found =
        std::max_element(loops.begin(), loops.end(),
                         [](const Loop& a, const Loop& b) { return a.extent < b.extent; });
    return static_cast<std::size_t>(found - loops.begin());
}

}  // namespace

Copy::Copy(std::span<const std::int64_t> extents, std::int64_t itemsize,
           std::span<const std::int64_t> source_strides,
           std::span<const std::int64_t> destination_strides) {
    Box box = make_box(extents, itemsize, source_strides, destination_strides);
    bytes_ = box.bytes;
    if (bytes_ == 0) return;
    source_contiguous_ = is_dense(extents, itemsize, source_strides);
    destination_contiguous_ = is_dense(extents, itemsize, destination_strides);
    loops_ = std::move(box.loops);
    run_ = box.run;
    source_first_ = box.source_first;
    destination_first_ = box.destination_first;
    if (loops_.size() < 2 || run_ > longest_tiled_run(bytes_)) return;
    const std::size_t i = fastest_source_loop(loops_);
    if (i == loops_.size() - 1) return;
    method_ = Method::tiles;
    const auto at = loops_.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(at, at + 1, loops_.end() - 1);
    if (bytes_ > most_small_bytes) return;
    const NestedKernels kernels = select_nested_kernels(loops_, run_);
    tile_ = kernels.one;
    tiles_ = kernels.repeated;
}

void Copy::run(const void* source, void* destination, int threads, Stores stores) const {
    if (bytes_ == 0) return;
    const std::byte* from = static_cast<const std::byte*>(source) + source_first_;
    std::byte* to = static_cast<std::byte*>(destination) + destination_first_;
    if (method_ == Method::tiles && bytes_ <= most_small_bytes && stores != Stores::streaming)
        return copy_nested_tiles(loops_, run_, {tile_, tiles_}, from, to);
    const Streaming streaming = stores == Stores::streaming   ? Streaming::all
                                : stores == Stores::automatic ? chosen_streaming(bytes_)
                                                              : Streaming::none;
    const bool beyond_cache = bytes_ >= streamed_bytes() / 2;
    // Prefetching costs time where the last level is near, and holds both sides.
    const bool fetches = bytes_ >= distances().streamed_copy / 2;
    const bool cached = !fetches || bytes_ <= least_streamed_bytes() / 4;
    if (method_ == Method::tiles && cached && stores != Stores::streaming &&
        nesting_pays(loops_, run_)) {
        std::vector<Loop> loops = loops_;
        const auto outer = std::span(loops).first(loops.size() - 2);
        sort_by_source(outer);
        const std::size_t split = longest(outer);  // divided among threads
        const Loop whole = outer[split];
        const NestedKernels kernels = select_nested_kernels(loops, run_);
        return in_ranges(threads, whole.extent, bytes_, [&](std::int64_t first, std::int64_t last) {
            if (last - first == whole.extent)
                return copy_nested_tiles(loops, run_, kernels, from, to);
            std::vector<Loop> part = loops;
            part[split].extent = last - first;
            copy_nested_tiles(part, run_, kernels, from + first * whole.source,
                              to + first * whole.destination);
        });
    }
    if (method_ == Method::tiles) {
        const auto copy_blocks = [&](const auto& tiles) {
            in_ranges(threads, tiles.blocks(), bytes_, [&](std::int64_t first, std::int64_t last) {
                tiles.copy(from, to, first, last);
            });
        };
        if (joining_pays(loops_, run_))
            copy_blocks(JoinedTiles(loops_, run_, streaming, beyond_cache));
        else
            copy_blocks(TileGrid(loops_, run_, streaming, fetches, to));
    } else {
        // Ranges begin at whole elements of at most 64 bytes, so no two threads share one.
        const std::int64_t grain = run_ <= 64 ? run_ : 1;
        const bool by_source = !fetches && reads_in_order(loops_, run_);
        const std::vector<Loop> reordered =
            by_source ? with_last_two_swapped(loops_) : std::vector<Loop>();
        const std::span<const Loop> loops = by_source ? reordered : loops_;
        in_ranges(threads, bytes_ / grain, bytes_, [&](std::int64_t first, std::int64_t last) {
            copy_runs(from, to, loops, run_, streaming == Streaming::all, fetches, first * grain,
                      last * grain);
        });
    }
}

}  // namespace hocket::kernel
