// SPDX-License-Identifier: BSD-3-Clause
#include "plan/share.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/checked.hpp"
#include "layout/family.hpp"

namespace hocket::plan {

using layout::Axis;
using layout::IndexSet;
using layout::Run;

namespace {

/// Blocks of the template that indices [first, last) lie in, from the lowest to the highest.
struct Blocks {
    std::int64_t lowest, highest;
};

Blocks blocks_of(const Axis& axis, std::int64_t first, std::int64_t last) {
    const std::int64_t a = (axis.stride * first + axis.offset) / axis.block;
    const std::int64_t b = (axis.stride * (last - 1) + axis.offset) / axis.block;
    return {std::min(a, b), std::max(a, b)};
}

/// Coordinates that may hold something of `own`: a superset, sorted; empty for "all of them".
std::vector<std::int64_t> candidates(const IndexSet& own, const Axis& peer) {
    const std::int64_t extent = own.extent();
    std::int64_t window = extent;
    if (own.repeats()) {
        const std::int64_t round = base::product_up_to(peer.procs, peer.block, base::max_size);
        const std::int64_t stride = std::abs(peer.stride) % round;
        window = base::lcm_up_to(own.period(), round / std::gcd(stride, round), extent);
        if (own.runs_within(0, window) >= peer.procs) return {};
    }
    std::vector<std::int64_t> found;
    for (std::int64_t start = 0; start < window; start += own.period()) {
        for (const Run& run : own.runs()) {
            const std::int64_t first = start + run.first;
            const std::int64_t last = std::min(first + run.length, window);
            if (first >= last) break;
            const Blocks blocks = blocks_of(peer, first, last);
            if (last - first <= blocks.highest - blocks.lowest) {  // strides that skip blocks
                if (last - first >= peer.procs) return {};
                for (std::int64_t i = first; i < last; ++i) found.push_back(peer.owner(i));
            } else {
                if (blocks.highest - blocks.lowest >= peer.procs - 1) return {};
                for (std::int64_t b = blocks.lowest; b <= blocks.highest; ++b)
                    found.push_back(b % peer.procs);
            }
            if (static_cast<std::int64_t>(found.size()) > 2 * peer.procs + 16) return {};
        }
        if (start > window - own.period()) break;
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace

std::vector<Share> shares(const IndexSet& own, const Axis& peer) {
    std::vector<Share> result;
    if (own.empty()) return result;
    if (peer.procs == 1) return {{0, own.count()}};
    const std::vector<std::int64_t> near = candidates(own, peer);
    const auto add = [&](std::int64_t coordinate) {
        const std::int64_t count = layout::count_common(own, layout::held_by(peer, coordinate));
        if (count > 0) result.push_back({coordinate, count});
    };
    if (near.empty()) {
        for (std::int64_t coordinate = 0; coordinate < peer.procs; ++coordinate) add(coordinate);
    } else {
        result.reserve(near.size());
        for (const std::int64_t coordinate : near) add(coordinate);
    }
    return result;
}

std::int64_t count_shares(const IndexSet& own, const Axis& peer) {
    if (own.empty()) return 0;
    if (peer.procs == 1) return 1;
    if (!own.repeats() && own.runs().size() == 1 && std::abs(peer.stride) == 1) {
        const Run run = own.runs()[0];
        const Blocks blocks = blocks_of(peer, run.first, run.first + run.length);
        return std::min(peer.procs, blocks.highest - blocks.lowest + 1);
    }
    std::int64_t found = 0;
    const auto look = [&](std::int64_t coordinate) {
        if (layout::any_common(own, layout::held_by(peer, coordinate))) ++found;
    };
    const std::vector<std::int64_t> near = candidates(own, peer);
    if (near.empty())
        for (std::int64_t coordinate = 0; coordinate < peer.procs; ++coordinate) look(coordinate);
    else
        for (const std::int64_t coordinate : near) look(coordinate);
    return found;
}

}  // namespace hocket::plan
