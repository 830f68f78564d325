// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/move_cycles.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/pool.hpp"
#include "kernel/kept.hpp"
#include "kernel/lookahead.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;

constexpr std::size_t segments_at_once = 16 << 10;  // 384 KiB of table
constexpr std::int64_t least_segment = 64;          // positions; shorter ones are not worth a
                                                    // thread
constexpr std::int64_t segments_a_thread = 8;

/// Copies one block of `known` bytes, a length at compile time; 0: of any length.
template <std::int64_t known>
struct ShortBlock {
    using Ahead = ShortLookahead;
    static void copy(std::byte* to, const std::byte* from, std::int64_t bytes, Ahead&) {
        // Whole lines of the destination; for shorter blocks the function call would cost more.
        constexpr std::int64_t longest_inline = 128;
        if (known > longest_inline)
            copy_cached(to, from, known);
        else
            std::memcpy(to, from, static_cast<std::size_t>(known > 0 ? known : bytes));
    }
};
/// Whole lines of the destination at a time.
constexpr std::int64_t piece_of_lines = 1024;
struct LinesBlock {
    using Ahead = LineLookahead;
    static void copy(std::byte* to, const std::byte* from, std::int64_t bytes, Ahead& ahead) {
        std::int64_t step =
            piece_of_lines - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % 64);
        for (std::int64_t at = 0; at < bytes; at += step, step = piece_of_lines) {
            const std::int64_t now = std::min(step, bytes - at);
            copy_cached(to + at, from + at, now);
            ahead.moved(now);
        }
    }
};
struct LongBlock {
    using Ahead = LongLookahead;
    static void copy(std::byte* to, const std::byte* from, std::int64_t bytes, Ahead& ahead) {
        // Steps end at the ends of destination lines.
        const std::int64_t whole = ahead.step();
        std::int64_t step =
            whole - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % 64);
        for (std::int64_t at = 0; at < bytes; at += step, step = whole) {
            // A function call: for a constant small length the compiler would emit a slow string
            // move.
            copy_cached(to + at, from + at, std::min(step, bytes - at));
            ahead.moved();
        }
    }
};
struct PairBlock : LongBlock {
    using Ahead = PairLookahead;
};
constexpr std::int64_t longest_paired_block = 32 << 10;  // two threads move longer ones slower

/// Contents of the first positions of divided cycles' segments, by position.
struct Saved {
    std::unordered_map<std::int64_t, std::int64_t> offsets;
    std::vector<std::byte> bytes;
};

template <class Block>
void walk(const Slice& slice, const Successor& next, std::span<const Segment> segments,
          const Saved& saved) {
    std::byte* const aside = thread_scratch(Scratch::panel, slice.bytes);
    typename Block::Ahead positions(slice, next, segments);
    for (const Segment& segment : segments) {
        std::byte* vacancy = positions.pop();
        const std::byte* last = aside;
        if (segment.whole())
            Block::copy(aside, vacancy, slice.bytes, positions);
        else
            last = saved.bytes.data() + saved.offsets.at(segment.next);
        for (std::int64_t k = 1; k < segment.length; ++k) {
            std::byte* const from = positions.pop();
            Block::copy(vacancy, from, slice.bytes, positions);
            vacancy = from;
        }
        Block::copy(vacancy, last, slice.bytes, positions);
    }
}

using Walk = void (*)(const Slice&, const Successor&, std::span<const Segment>, const Saved&);

Walk select_walk(std::int64_t bytes, bool far) {
    switch (bytes) {
        case 1:
            return walk<ShortBlock<1>>;
        case 2:
            return walk<ShortBlock<2>>;
        case 4:
            return walk<ShortBlock<4>>;
        case 8:
            return walk<ShortBlock<8>>;
        case 16:
            return walk<ShortBlock<16>>;
        case 32:
            return walk<ShortBlock<32>>;
        case 64:
            return walk<ShortBlock<64>>;
        case 128:
            return walk<ShortBlock<128>>;
        case 256:
            return walk<ShortBlock<256>>;
        default:
            if (bytes <= distances().short_block) return walk<ShortBlock<0>>;
            if (!far || distances().fetching == Fetching::second_level) return walk<LongBlock>;
            return bytes >= distances().paired_block && bytes <= longest_paired_block
                       ? walk<PairBlock>
                       : walk<LinesBlock>;
    }
}

void save_cut_segments(const Slice& slice, std::span<const Segment> segments, Saved& saved) {
    saved.offsets.clear();
    saved.bytes.clear();
    for (const Segment& segment : segments) {
        if (segment.whole()) continue;
        saved.offsets[segment.start] = static_cast<std::int64_t>(saved.bytes.size());
        const std::byte* position = slice.at(segment.start);
        saved.bytes.insert(saved.bytes.end(), position, position + slice.bytes);
    }
}

/// Division of the work: parts of blocks, and cycles.
struct Cut {
    std::int64_t pieces, longest;
};

Cut cut_work(const Permutation& permutation, std::int64_t block, const Pass& pass) {
    const std::int64_t pieces = ceil_div(block, largest_piece);
    const std::int64_t threads = base::resolve_threads(pass.threads);
    const bool whole = threads == 1 || pass.schedule.kind != LoopSchedule::Kind::automatic ||
                       permutation.batch * pieces >= 2 * threads;
    return {pieces,
            whole ? INT64_MAX
                  : std::max(permutation.blocks() / (segments_a_thread * threads), least_segment)};
}

/// The tables of permutations that have few cycles: finding these takes up to a third of the time
/// of moving short blocks.
struct CyclesKey {
    std::vector<std::int64_t> extents;
    std::vector<std::size_t> axes;
    Ring ring;
    std::int64_t longest;
    bool operator==(const CyclesKey&) const = default;
};
constexpr std::size_t most_kept_segments = 1024;  // 24 KiB a table

Kept<CyclesKey, std::vector<Segment>>& kept_cycles() {
    static Kept<CyclesKey, std::vector<Segment>> kept;
    return kept;
}

}  // namespace

void hand_out_cycles(const Permutation& permutation, std::int64_t block, const Pass& pass,
                     const Ring& ring, const CycleWork& work) {
    const Cut cut = cut_work(permutation, block, pass);
    const std::int64_t slices = permutation.batch * cut.pieces;
    const auto move_all = [&](std::span<const Segment> segments) {
        if (cut.longest == INT64_MAX && pass.schedule.kind == LoopSchedule::Kind::automatic) {
            base::parallel_for(pass.threads, slices,
                               [&](std::int64_t slice) { work.move(slice, segments); });
            return;
        }
        const auto length = [&](std::int64_t k) {
            return segments[static_cast<std::size_t>(k)].length;
        };
        for (std::int64_t slice = 0; slice < slices; ++slice) {
            work.begin(slice, segments);
            run_scheduled(pass.schedule, pass.threads, std::ssize(segments), length,
                          [&](std::int64_t first, std::int64_t last) {
                              work.move(slice,
                                        segments.subspan(static_cast<std::size_t>(first),
                                                         static_cast<std::size_t>(last - first)));
                          });
        }
    };
    const CyclesKey key{permutation.extents, permutation.axes, ring, cut.longest};
    if (const auto table = kept_cycles().find(key)) return move_all(*table);
    CycleFinder finder(permutation, ring);
    std::vector<Segment> found;
    for (bool first = true, more = true; more; first = false) {
        found.clear();
        more = finder.find(found, pass.whole_table ? SIZE_MAX : segments_at_once, cut.longest);
        if (first && !more && found.size() <= most_kept_segments)
            kept_cycles().keep(key, std::make_shared<const std::vector<Segment>>(found));
        if (!found.empty()) move_all(found);
    }
}

void move_cycles(std::byte* array, const Permutation& permutation, const BlockPositions& positions,
                 const Pass& pass, const Ring& ring) {
    if (permutation.identity() || positions.block == 0) return;
    const Successor next(permutation, ring);
    const std::int64_t blocks = permutation.blocks(), all = permutation.batch * blocks;
    const std::int64_t pieces = cut_work(permutation, positions.block, pass).pieces;
    const std::int64_t piece = ceil_div(positions.block, pieces);
    const bool far = all * positions.block >= distances().far_array;
    const auto slice_of = [&](std::int64_t index) {
        const std::int64_t item = index / pieces, first = index % pieces * piece;
        Slice slice{.array = array + first,
                    .bytes = std::min(piece, positions.block - first),
                    .step = positions.block,
                    .in_row = Divider(std::max<std::int64_t>(positions.in_row, 1), all)};
        if (positions.gaps()) slice.gap = positions.pitch - positions.in_row * positions.block;
        // Items follow each other at a multiple of whole rows, or without gaps.
        slice.array = slice.at(item * blocks);
        return slice;
    };
    Saved saved;
    const auto save = [&](std::int64_t index, std::span<const Segment> segments) {
        save_cut_segments(slice_of(index), segments, saved);
    };
    const auto move = [&](std::int64_t index, std::span<const Segment> segments) {
        const Slice slice = slice_of(index);
        if (slice.bytes > 0) select_walk(slice.bytes, far)(slice, next, segments, saved);
    };
    hand_out_cycles(permutation, positions.block, pass, ring, {.begin = save, .move = move});
}

std::int64_t move_cycles_memory(const Permutation& permutation, const BlockPositions& positions,
                                const Pass& pass, const Ring& ring) {
    const std::int64_t threads = base::resolve_threads(pass.threads);
    const Cut cut = cut_work(permutation, positions.block, pass);
    const std::int64_t piece = ceil_div(positions.block, cut.pieces);
    std::int64_t table = static_cast<std::int64_t>(segments_at_once * sizeof(Segment));
    // In the worst case every cycle has two positions.
    const std::int64_t most = permutation.blocks() / 2 * static_cast<std::int64_t>(sizeof(Segment));
    table = pass.whole_table ? most : std::min(table, most);
    const std::int64_t saved =
        cut.longest == INT64_MAX ? 0 : 2 * segments_a_thread * threads * (piece + 64);
    return CycleFinder::memory(permutation, ring) + table + saved + threads * (piece + 4096);
}

}  // namespace hocket::kernel
