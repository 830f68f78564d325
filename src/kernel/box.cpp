// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/box.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/text.hpp"

namespace hocket::kernel {
namespace {

/// The distance in bytes between the first and the last step of a loop. Throws if it, or the sum
/// over all loops, does not fit 63 bits.
void check_reach(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
                 const char* side) {
    std::int64_t sum = 0;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        std::int64_t reach = 0;
        bool overflow = __builtin_mul_overflow(extents[d] - 1, strides[d], &reach);
        overflow |= reach == INT64_MIN || __builtin_add_overflow(sum, std::abs(reach), &sum);
        if (overflow)
            throw Error(std::string("a copy reaches beyond 2^63 bytes on its ") + side +
                        " side: extents " + text::tuple(extents) + ", byte strides " +
                        text::tuple(strides) + "; check the strides");
    }
}

std::int64_t checked_bytes(std::span<const std::int64_t> extents, std::int64_t itemsize) {
    for (const std::int64_t extent : extents)
        if (extent < 0)
            throw Error("a copy has a negative extent in " + text::tuple(extents) +
                        "; extents are 0 or more");
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
    std::int64_t bytes = itemsize;
    for (const std::int64_t extent : extents)
        if (__builtin_mul_overflow(bytes, extent, &bytes))
            throw Error("a copy of extents " + text::tuple(extents) + " with elements of " +
                        std::to_string(itemsize) +
                        " bytes is larger than 2^63 bytes; copy it in parts");
    return bytes;
}

}  // namespace

Box make_box(std::span<const std::int64_t> extents, std::int64_t itemsize,
             std::span<const std::int64_t> source_strides,
             std::span<const std::int64_t> destination_strides) {
    if (extents.size() != source_strides.size() || extents.size() != destination_strides.size())
        throw Error("a copy needs one source and one destination stride for each extent, not " +
                    std::to_string(extents.size()) + " extents, " +
                    std::to_string(source_strides.size()) + " source strides and " +
                    std::to_string(destination_strides.size()) + " destination strides");
    if (itemsize < 1)
        throw Error("a copy needs elements of at least 1 byte, not " + std::to_string(itemsize));
    Box box;
    box.bytes = checked_bytes(extents, itemsize);
    if (box.bytes == 0) return box;
    check_reach(extents, source_strides, "source");
    check_reach(extents, destination_strides, "destination");

    box.loops.reserve(extents.size());
    for (std::size_t d = 0; d < extents.size(); ++d) {
        Loop loop{extents[d], source_strides[d], destination_strides[d]};
        if (loop.extent == 1) continue;
        if (loop.destination < 0) {  // traverse it from its other end
            box.source_first += (loop.extent - 1) * loop.source;
            box.destination_first += (loop.extent - 1) * loop.destination;
            loop.source = -loop.source;
            loop.destination = -loop.destination;
        }
        box.loops.push_back(loop);
    }
    std::sort(box.loops.begin(), box.loops.end(),
              [](const Loop& a, const Loop& b) { return a.destination > b.destination; });

    std::vector<Loop>& loops = box.loops;
    std::size_t fused = 0;
    for (const Loop& loop : loops) {
        if (fused > 0 && loops[fused - 1].destination == loop.extent * loop.destination &&
            loops[fused - 1].source == loop.extent * loop.source)
            loops[fused - 1] = {loops[fused - 1].extent * loop.extent, loop.source,
                                loop.destination};
        else
            loops[fused++] = loop;
    }
    loops.resize(fused);
    box.run = itemsize;
    if (!loops.empty() && loops.back().source == itemsize && loops.back().destination == itemsize) {
        box.run *= loops.back().extent;
        loops.pop_back();
    }
    return box;
}

bool is_dense(std::span<const std::int64_t> extents, std::int64_t itemsize,
              std::span<const std::int64_t> strides) {
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return true;
    std::int64_t expected = itemsize;
    for (std::size_t d = extents.size(); d-- > 0;) {
        if (extents[d] == 1) continue;
        if (strides[d] != expected) return false;
        expected *= extents[d];
    }
    return true;
}

}  // namespace hocket::kernel
