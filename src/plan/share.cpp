// SPDX-License-Identifier: BSD-3-Clause
#include "plan/share.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "layout/family.hpp"

namespace hocket::plan {

using layout::Axis;
using layout::IndexSet;
using layout::Run;

namespace {

/// Blocks of the template that contain indices [first, last), from the lowest to the highest.
struct Blocks {
    std::int64_t lowest, highest;
};

Blocks blocks_of(const Axis& axis, std::int64_t first, std::int64_t last) {
    const std::int64_t a = (axis.stride * first + axis.offset) / axis.block;
    const std::int64_t b = (axis.stride * (last - 1) + axis.offset) / axis.block;
    return {std::min(a, b), std::max(a, b)};
}

/// Coordinates that may hold elements of `own`: a superset, sorted; empty for "all of them".
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

/// `shares` for a peer's dimension with unequal blocks: one step for each run of `own`, or for each
/// piece that `own` may intersect, whichever are fewer.
std::vector<Share> shares_of_partition(const IndexSet& own, const Axis& peer) {
    const layout::Partition& partition = *peer.partition;
    std::vector<Share> found;
    std::vector<std::int64_t> counts;  // by coordinate, if there are fewer of these than pieces
    const auto add = [&](std::int64_t piece, std::int64_t count) {
        if (count <= 0) return;
        const std::int64_t owner = partition.owner_of(piece);
        if (!counts.empty())
            counts[static_cast<std::size_t>(owner)] += count;
        else if (!found.empty() && found.back().coordinate == owner)
            found.back().count += count;
        else
            found.push_back({owner, count});
    };
    const auto pieces_of = [&](std::int64_t first, std::int64_t last) {  // of indices
        const std::int64_t a = partition.piece_at(peer.position(first));
        const std::int64_t b = partition.piece_at(peer.position(last - 1));
        return std::pair(std::min(a, b), std::max(a, b));
    };
    const auto indices_of = [&](std::int64_t piece) {
        return peer.indices(partition.begin(piece), partition.begin(piece + 1));
    };
    const std::int64_t first = own.element(0), last = own.element(own.count() - 1) + 1;
    const auto [lowest, highest] = pieces_of(first, last);
    if (peer.procs <= highest - lowest) counts.resize(static_cast<std::size_t>(peer.procs));
    if (own.runs_within(first, last) <= highest - lowest) {
        layout::for_runs(own, first, last, [&](std::int64_t low, std::int64_t high) {
            const auto [from, to] = pieces_of(low, high);
            for (std::int64_t k = from; k <= to; ++k) {
                const Run run = indices_of(k);
                add(k, std::min(high, run.first + run.length) - std::max(low, run.first));
            }
        });
    } else {
        for (std::int64_t k = lowest; k <= highest; ++k) {
            const Run run = indices_of(k);
            add(k, own.count_below(run.first + run.length) - own.count_below(run.first));
        }
    }
    for (std::size_t c = 0; c < counts.size(); ++c)
        if (counts[c] > 0) found.push_back({static_cast<std::int64_t>(c), counts[c]});
    const auto before = [](const Share& a, const Share& b) { return a.coordinate < b.coordinate; };
    if (!std::is_sorted(found.begin(), found.end(), before))
        std::sort(found.begin(), found.end(), before);
    std::vector<Share> joined;
    for (const Share& share : found) {
        if (!joined.empty() && joined.back().coordinate == share.coordinate)
            joined.back().count += share.count;
        else
            joined.push_back(share);
    }
    return joined;
}

}  // namespace

namespace {

/// `held(c)`: the index set of the peer's coordinate c.
template <class Held>
std::vector<Share> shares_of(const IndexSet& own, const Axis& peer, Held&& held) {
    std::vector<Share> result;
    if (own.empty()) return result;
    if (peer.procs == 1) return {{0, own.count()}};
    if (peer.partition) return shares_of_partition(own, peer);
    const std::vector<std::int64_t> near = candidates(own, peer);
    const bool one_run = !own.repeats() && own.runs().size() == 1;
    const auto add = [&](std::int64_t coordinate) {
        const IndexSet& theirs = held(coordinate);
        const std::int64_t count =
            one_run ? theirs.count_below(own.runs()[0].first + own.runs()[0].length) -
                          theirs.count_below(own.runs()[0].first)
                    : layout::count_common(own, theirs);
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

}  // namespace

std::vector<Share> shares(const IndexSet& own, const Axis& peer) {
    return shares_of(own, peer, [&](std::int64_t c) { return layout::held_by(peer, c); });
}

const std::vector<Share>& ShareTable::of(std::int64_t coordinate) {
    rows_.resize(static_cast<std::size_t>(own_.procs));
    std::vector<Share>& row = rows_[static_cast<std::size_t>(coordinate)];
    if (!row.empty()) return row;
    if (held_.empty() && peer_.procs > 1 && !peer_.partition)
        for (std::int64_t c = 0; c < peer_.procs; ++c) held_.push_back(layout::held_by(peer_, c));
    row = shares_of(
        layout::held_by(own_, coordinate), peer_,
        [&](std::int64_t c) -> const IndexSet& { return held_[static_cast<std::size_t>(c)]; });
    return row;
}

bool has_count_formula(const Axis& own, const Axis& peer) {
    if (peer.procs == 1) return true;
    const IndexSet first = layout::held_by(own, 0);
    return !first.repeats() && first.runs().size() <= 1 &&
           (peer.partition || std::abs(peer.stride) == 1);
}

std::int64_t count_shares(const IndexSet& own, const Axis& peer) {
    if (own.empty()) return 0;
    if (peer.procs == 1) return 1;
    if (peer.partition) return static_cast<std::int64_t>(shares_of_partition(own, peer).size());
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
