// SPDX-License-Identifier: BSD-3-Clause
// The raw limit of a redistribution with short runs: the best plain loop over the same strided
// boxes, within one address space. It shares no code with the library.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

struct Loop {
    std::int64_t extent, source, target;  // steps in bytes
};

struct Box {
    const char* source;
    char* target;
    std::vector<Loop> loops;  // outermost first
};

constexpr std::int64_t kElement = 8;
constexpr std::int64_t kPart = 2048;  // elements: 16 KiB of the target stay in the first cache

// Not vectorized: the compiler would choose gathers and scatters, which are slower than single
// loads and stores.
__attribute__((optimize("no-tree-vectorize"))) void copy_strided(const char* source, char* target,
                                                                 std::int64_t source_step,
                                                                 std::int64_t target_step,
                                                                 std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i, source += source_step, target += target_step)
        std::memcpy(target, source, kElement);
}

void copy_row(const char* source, char* target, const Loop& loop, std::int64_t from,
              std::int64_t to) {
    source += from * loop.source;
    target += from * loop.target;
    if (loop.source == kElement && loop.target == kElement)
        std::memcpy(target, source, static_cast<std::size_t>((to - from) * kElement));
    else
        copy_strided(source, target, loop.source, loop.target, to - from);
}

/// Two senders whose elements alternate, CYCLIC to BLOCK: one pass, whole cache lines of the target
/// at a time. False for other boxes.
bool alternate(const std::vector<Box>& boxes) {
    if (boxes.size() != 2) return false;
    for (const auto& [source, target, loops] : boxes)
        if (loops.size() != 1 || loops[0].source != kElement || loops[0].target != 2 * kElement)
            return false;
    const auto& first = boxes[boxes[0].target < boxes[1].target ? 0 : 1];
    const auto& second = boxes[boxes[0].target < boxes[1].target ? 1 : 0];
    const std::int64_t pairs = second.loops[0].extent;
    if (second.target - first.target != kElement || first.loops[0].extent < pairs) return false;
    const auto* const a = reinterpret_cast<const double*>(first.source);
    const auto* const b = reinterpret_cast<const double*>(second.source);
    auto* const __restrict target = reinterpret_cast<double*>(first.target);
    for (std::int64_t i = 0; i < pairs; ++i) {
        target[2 * i] = a[i];
        target[2 * i + 1] = b[i];
    }
    for (std::int64_t i = pairs; i < first.loops[0].extent; ++i) target[2 * i] = a[i];
    return true;
}

/// Rows of `elements` each, a compile-time constant, so that a row needs no call.
template <int elements>
void copy_short_rows(const char* source, char* target, const Loop& loop, std::int64_t from,
                     std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i)
        std::memcpy(target + i * loop.target, source + i * loop.source,
                    static_cast<std::size_t>(elements * kElement));
}

/// Iterations `from` to `to` of the first loop, with all inner loops.
void copy_loops(const char* source, char* target, const Loop* loop, const Loop* last,
                std::int64_t from, std::int64_t to) {
    if (loop == last) return copy_row(source, target, *loop, from, to);
    const Loop& inner = loop[1];
    const bool run = inner.source == kElement && inner.target == kElement;
    if (loop + 1 == last && run) {
        switch (inner.extent) {
            case 2:
                return copy_short_rows<2>(source, target, *loop, from, to);
            case 3:
                return copy_short_rows<3>(source, target, *loop, from, to);
            case 4:
                return copy_short_rows<4>(source, target, *loop, from, to);
            case 8:
                return copy_short_rows<8>(source, target, *loop, from, to);
            default:
                break;
        }
    }
    for (std::int64_t i = from; i < to; ++i)
        copy_loops(source + i * loop->source, target + i * loop->target, loop + 1, last, 0,
                   inner.extent);
}

/// Drops loops of one iteration and joins those that continue each other.
std::vector<Loop> simplify(const std::int64_t* rows, std::int64_t count) {
    std::vector<Loop> loops;
    for (std::int64_t k = 0; k < count; ++k) {
        const Loop inner{rows[3 * k], rows[3 * k + 1], rows[3 * k + 2]};
        if (inner.extent == 1) continue;
        if (!loops.empty() && loops.back().source == inner.extent * inner.source &&
            loops.back().target == inner.extent * inner.target)
            loops.back() = {loops.back().extent * inner.extent, inner.source, inner.target};
        else
            loops.push_back(inner);
    }
    if (loops.empty()) loops.push_back({1, kElement, kElement});
    return loops;
}

}  // namespace

/// Copies `count` boxes of 8-byte elements. Each is two addresses (source, target), then for each
/// of its 2·`dimensions` loops, outermost first: extent, source step, target step, in bytes.
extern "C" void hocket_bench_copy(std::int64_t count, std::int64_t dimensions,
                                  const std::int64_t* rows) {
    std::vector<Box> boxes;
    std::int64_t longest = 0;
    const std::int64_t width = 2 + 6 * dimensions;
    for (std::int64_t b = 0; b < count; ++b, rows += width) {
        boxes.push_back({reinterpret_cast<const char*>(rows[0]), reinterpret_cast<char*>(rows[1]),
                         simplify(rows + 2, 2 * dimensions)});
        longest = std::max(longest, boxes.back().loops.front().extent);
    }
    if (alternate(boxes)) return;
    // All senders' share of one part of the target before the next part: for interleaved elements,
    // each cache line of the target is written while it is in the first cache.
    for (std::int64_t from = 0; from < longest;) {
        std::int64_t step = longest;
        for (const auto& box : boxes) {
            std::int64_t inner = 1;
            for (std::size_t k = 1; k < box.loops.size(); ++k) inner *= box.loops[k].extent;
            step =
                std::min(step, std::max<std::int64_t>(kPart / std::max<std::int64_t>(inner, 1), 1));
        }
        for (const auto& [source, target, loops] : boxes) {
            if (from >= loops.front().extent) continue;
            copy_loops(source, target, loops.data(), loops.data() + loops.size() - 1, from,
                       std::min(from + step, loops.front().extent));
        }
        from += step;
    }
}
