// SPDX-License-Identifier: BSD-3-Clause
#include "layout/box_index.hpp"

#include <algorithm>
#include <numeric>

namespace hocket::layout {

namespace {

constexpr std::int64_t leaf = 16;

}  // namespace

void BoxIndex::add(std::int64_t process, std::span<const Range> box) {
    process_.push_back(process);
    ranges_.insert(ranges_.end(), box.begin(), box.end());
}

std::int64_t BoxIndex::volume(std::int64_t k) const {
    return layout::volume(box(k));
}

Range BoxIndex::of(std::int64_t process) const {
    const auto [first, last] = std::equal_range(process_.begin(), process_.end(), process);
    return {first - process_.begin(), last - process_.begin()};
}

void BoxIndex::build() {
    ranges_.shrink_to_fit();
    process_.shrink_to_fit();
    order_.resize(process_.size());
    std::iota(order_.begin(), order_.end(), 0);
    nodes_.clear();
    bounds_.clear();
    if (!order_.empty()) make_node(0, count());
}

std::int64_t BoxIndex::make_node(std::int64_t first, std::int64_t last) {
    const auto number = static_cast<std::int64_t>(nodes_.size());
    nodes_.push_back({first, last, 0, bounds_.size()});
    const auto begin = order_.begin() + first, end = order_.begin() + last;
    std::size_t widest = 0;
    std::int64_t spread = -1;
    for (std::size_t d = 0; d < dimensions_; ++d) {
        Range around = box(*begin)[d];
        std::int64_t low = around.first, high = around.first;
        for (auto k = begin; k != end; ++k) {
            const Range& range = box(*k)[d];
            around = {std::min(around.first, range.first), std::max(around.last, range.last)};
            low = std::min(low, range.first);
            high = std::max(high, range.first);
        }
        bounds_.push_back(around);
        if (high - low > spread) widest = d;
        spread = std::max(spread, high - low);
    }
    if (last - first <= leaf) return number;
    const std::int64_t middle = first + (last - first) / 2;
    std::nth_element(begin, order_.begin() + middle, end, [&](std::int64_t a, std::int64_t b) {
        const std::int64_t left = box(a)[widest].first, right = box(b)[widest].first;
        return left != right ? left < right : a < b;
    });
    make_node(first, middle);
    const std::int64_t right = make_node(middle, last);
    nodes_[static_cast<std::size_t>(number)].right = right;
    return number;
}

bool overlaps(const BoxIndex& boxes, std::int64_t k) {
    bool alone = true;
    boxes.for_intersecting(boxes.box(k), [&](std::int64_t other) { return alone = other == k; });
    return !alone;
}

bool any_overlaps(const BoxIndex& boxes) {
    for (std::int64_t k = 0; k < boxes.count(); ++k)
        if (overlaps(boxes, k)) return true;
    return false;
}

namespace {

using Ranges = std::vector<Range>;

/// Divides space until every box that intersects a region covers it; then divides the region among
/// its holders.
class Sharing {
  public:
    Sharing(const BoxIndex& boxes, std::size_t dimensions) : boxes_(boxes), result_(dimensions) {}

    BoxIndex run() {
        std::vector<std::int64_t> shared;  // boxes that overlap others
        for (std::int64_t k = 0; k < boxes_.count(); ++k) {
            if (overlaps(boxes_, k))
                shared.push_back(k);
            else
                found_.push_back({boxes_.process(k), {boxes_.box(k).begin(), boxes_.box(k).end()}});
        }
        if (!shared.empty()) {
            Ranges region(boxes_.box(shared[0]).begin(), boxes_.box(shared[0]).end());
            for (const std::int64_t k : shared)
                for (std::size_t d = 0; d < region.size(); ++d)
                    region[d] = {std::min(region[d].first, boxes_.box(k)[d].first),
                                 std::max(region[d].last, boxes_.box(k)[d].last)};
            cut(std::move(region), shared);
        }
        std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
            if (a.process != b.process) return a.process < b.process;
            for (std::size_t d = 0; d < a.box.size(); ++d)
                if (a.box[d].first != b.box[d].first) return a.box[d].first < b.box[d].first;
            return false;
        });
        for (const Found& each : found_) result_.add(each.process, each.box);
        result_.build();
        return std::move(result_);
    }

  private:
    struct Found {
        std::int64_t process;
        Ranges box;
    };

    void cut(Ranges region, const std::vector<std::int64_t>& inside) {
        if (inside.empty()) return;
        // The bounds of boxes within the region, in the dimension with the most bounds.
        std::vector<std::int64_t> cuts;
        std::size_t along = 0;
        for (std::size_t d = 0; d < region.size(); ++d) {
            std::vector<std::int64_t> here;
            for (const std::int64_t k : inside)
                for (const std::int64_t at : {boxes_.box(k)[d].first, boxes_.box(k)[d].last})
                    if (at > region[d].first && at < region[d].last) here.push_back(at);
            if (here.size() <= cuts.size()) continue;
            cuts = std::move(here);
            along = d;
        }
        if (cuts.empty()) {
            share(std::move(region), inside);
            return;
        }
        const auto middle = cuts.begin() + static_cast<std::ptrdiff_t>(cuts.size() / 2);
        std::nth_element(cuts.begin(), middle, cuts.end());
        const std::int64_t at = *middle;
        std::vector<std::int64_t> below, above;
        for (const std::int64_t k : inside) {
            if (boxes_.box(k)[along].first < at) below.push_back(k);
            if (boxes_.box(k)[along].last > at) above.push_back(k);
        }
        Ranges upper = region;
        region[along].last = at;
        upper[along].first = at;
        cut(std::move(region), below);
        cut(std::move(upper), above);
    }

    /// Halves the longest side, and the holders with it, until each part has one.
    void share(Ranges region, std::span<const std::int64_t> holders) {
        std::size_t longest = 0;
        for (std::size_t d = 1; d < region.size(); ++d)
            if (region[d].last - region[d].first > region[longest].last - region[longest].first)
                longest = d;
        const std::int64_t extent =
            region.empty() ? 1 : region[longest].last - region[longest].first;
        if (holders.size() == 1 || extent == 1) {
            // A single index for several holders: they take turns over many indices.
            std::uint64_t number = 0;
            for (const Range& range : region)
                number = number * 31 + static_cast<std::uint64_t>(range.first);
            found_.push_back({boxes_.process(holders[number % holders.size()]), std::move(region)});
            return;
        }
        const std::size_t half = holders.size() / 2;
        const auto first_part = static_cast<std::int64_t>(
            static_cast<__int128>(extent) * static_cast<std::int64_t>(half) /
            static_cast<std::int64_t>(holders.size()));
        Ranges upper = region;
        region[longest].last = upper[longest].first =
            region[longest].first + std::max<std::int64_t>(first_part, 1);
        share(std::move(region), holders.first(half));
        share(std::move(upper), holders.subspan(half));
    }

    const BoxIndex& boxes_;
    BoxIndex result_;
    std::vector<Found> found_;
};

}  // namespace

BoxIndex senders_of(const BoxIndex& boxes, std::size_t dimensions) {
    return Sharing(boxes, dimensions).run();
}

}  // namespace hocket::layout
