// SPDX-License-Identifier: BSD-3-Clause
#include "layout/index_set.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"

namespace hocket::layout {

using base::wide;

std::int64_t Axis::owner(std::int64_t index) const {
    if (procs == 1) return 0;
    return partition ? partition->owner(position(index)) : position(index) / block % procs;
}

Run Axis::indices(wide first, wide last) const {
    if (stride == 1) {  // divisions of 128 bits take most of the time of long INDIRECT maps
        const wide low = std::max<wide>(0, first - offset);
        const wide high = std::min<wide>(extent, last - offset);
        if (low >= high) return {0, 0};
        return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high - low)};
    }
    // A negative stride is a positive one, read from the far end.
    const bool backward = stride < 0;
    const wide step = backward ? -static_cast<wide>(stride) : stride;
    const wide lowest = backward ? static_cast<wide>(stride) * (extent - 1) + offset : offset;
    const wide low = std::max<wide>(0, base::ceil_div<wide>(first - lowest, step));
    const wide high = std::min<wide>(extent, base::ceil_div<wide>(last - lowest, step));
    if (low >= high) return {0, 0};
    return {static_cast<std::int64_t>(backward ? extent - high : low),
            static_cast<std::int64_t>(high - low)};
}

IndexSet::IndexSet(std::int64_t extent, std::int64_t period, std::vector<Run> runs)
    : extent_(extent), period_(std::max<std::int64_t>(period, 1)), runs_(std::move(runs)) {
    if (period_ >= extent_) period_ = std::max<std::int64_t>(extent_, 1);
    if (runs_.size() > 1) below_.reserve(runs_.size());
    for (const Run& run : runs_) {
        if (runs_.size() > 1) below_.push_back(per_period_);
        per_period_ += run.length;
    }
    // "All" and "none" have one representation each, which is not periodic.
    if (repeats() && (per_period_ == period_ || per_period_ == 0)) {
        runs_.clear();
        below_.clear();
        if (per_period_ != 0) runs_.push_back({0, extent_});
        per_period_ = per_period_ == 0 ? 0 : extent_;
        period_ = extent_;
    }
    count_ = per_period_;
    if (repeats()) count_ = count_below(extent_);
}

std::size_t IndexSet::first_run_after(std::int64_t offset) const {
    if (runs_.size() == 1) return runs_[0].first + runs_[0].length > offset ? 0 : 1;
    const auto run = std::upper_bound(
        runs_.begin(), runs_.end(), offset,
        [](std::int64_t value, const Run& r) { return value < r.first + r.length; });
    return static_cast<std::size_t>(run - runs_.begin());
}

std::int64_t IndexSet::count_below(std::int64_t index) const {
    std::size_t hint = runs_.size();
    return count_below(index, hint);
}

std::int64_t IndexSet::count_below(std::int64_t index, std::size_t& hint) const {
    if (per_period_ == 0) return 0;
    std::int64_t rounds = 0;
    if (repeats()) {
        rounds = index / period_;
        index -= rounds * period_;
    }
    const auto ends_after = [&](std::size_t r) { return runs_[r].first + runs_[r].length > index; };
    if (hint < runs_.size() && !ends_after(hint)) ++hint;
    if (hint >= runs_.size() || !ends_after(hint) || (hint > 0 && ends_after(hint - 1)))
        hint = first_run_after(index);
    const std::size_t run = hint;
    std::int64_t within = per_period_;
    if (run < runs_.size()) {
        within = runs_.size() == 1 ? 0 : below_[run];
        within += std::max<std::int64_t>(0, index - runs_[run].first);
    }
    return rounds * per_period_ + within;
}

bool IndexSet::contains(std::int64_t index) const {
    if (per_period_ == 0) return false;
    if (repeats()) index %= period_;
    const std::size_t run = first_run_after(index);
    return run < runs_.size() && runs_[run].first <= index;
}

std::int64_t IndexSet::element(std::int64_t position) const {
    const std::int64_t rounds = position / per_period_;
    position -= rounds * per_period_;
    std::size_t run = 0;
    if (runs_.size() > 1) {
        const auto above = std::upper_bound(below_.begin(), below_.end(), position);
        run = static_cast<std::size_t>(above - below_.begin()) - 1;
        position -= below_[run];
    }
    return rounds * period_ + runs_[run].first + position;
}

std::vector<std::int64_t> IndexSet::list() const {
    std::vector<std::int64_t> indices;
    indices.reserve(static_cast<std::size_t>(count_));
    for (std::int64_t start = 0; start < extent_; start += period_)
        for (const Run& run : runs_)
            for (std::int64_t i = 0; i < run.length && start + run.first + i < extent_; ++i)
                indices.push_back(start + run.first + i);
    return indices;
}

std::int64_t IndexSet::runs_within(std::int64_t first, std::int64_t last) const {
    const auto runs = static_cast<std::int64_t>(runs_.size());
    if (!repeats()) return runs;
    return base::product_up_to((last - first) / period_ + 2, runs, base::max_size);
}

IndexSet whole(std::int64_t extent) {
    std::vector<Run> runs;
    if (extent > 0) runs.push_back({0, extent});
    return {extent, extent, std::move(runs)};
}

IndexSet interval(const Range& range, std::int64_t extent) {
    if (range.first >= range.last) return {extent, extent, {}};
    return {extent, extent, {{range.first, range.last - range.first}}};
}

namespace {

/// Runs of [0, window) in which (stride*i + offset) mod modulus is in [first, last): one step for
/// each wrap-around of the positions. 0 < stride; 0 <= offset < modulus.
std::vector<Run> runs_by_rounds(wide stride, wide offset, wide modulus, wide first, wide last,
                                wide window) {
    std::vector<Run> runs;
    const wide end = stride * (window - 1) + offset;
    for (wide round = 0; round + first <= end; round += modulus) {
        const wide low = base::ceil_div(round + first - offset, stride);
        const wide high = base::ceil_div(round + last - offset, stride);
        const wide begin = low < 0 ? 0 : low;
        const wide stop = high > window ? window : high;
        if (begin >= stop) continue;
        if (!runs.empty() && runs.back().first + runs.back().length == begin)
            runs.back().length += static_cast<std::int64_t>(stop - begin);
        else
            runs.push_back(
                {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(stop - begin)});
    }
    return runs;
}

/// The same runs, one step for each template position of [first, last): better for long strides and
/// short blocks.
std::vector<Run> runs_by_positions(wide stride, wide offset, wide modulus, wide first, wide last,
                                   wide window) {
    const wide common =
        std::gcd(static_cast<std::int64_t>(stride), static_cast<std::int64_t>(modulus));
    const wide period = modulus / common;
    const wide turn = base::inverse(base::floor_mod(stride / common, period), period);
    std::vector<std::int64_t> indices;
    for (wide position = offset + base::ceil_div(first - offset, common) * common; position < last;
         position += common) {
        const wide index =
            base::floor_mod(base::floor_mod((position - offset) / common, period) * turn, period);
        if (index < window) indices.push_back(static_cast<std::int64_t>(index));
    }
    std::sort(indices.begin(), indices.end());
    std::vector<Run> runs;
    for (const std::int64_t index : indices) {
        if (!runs.empty() && runs.back().first + runs.back().length == index)
            ++runs.back().length;
        else
            runs.push_back({index, 1});
    }
    return runs;
}

/// `held_by` for a template with unequal blocks.
IndexSet held_by_partition(const Axis& axis, std::int64_t first, std::int64_t last) {
    const std::int64_t n = axis.extent;
    const auto [low, high] = std::minmax({axis.position(0), axis.position(n - 1)});
    std::vector<Run> owned = axis.partition->owned(first, last, low, high + 1);
    if (axis.stride < 0) std::reverse(owned.begin(), owned.end());
    std::vector<Run> runs;
    for (const Run& positions : owned) {
        const Run run = axis.indices(positions.first, positions.first + positions.length);
        if (run.length == 0) continue;
        if (!runs.empty() && runs.back().first + runs.back().length == run.first)
            runs.back().length += run.length;
        else
            runs.push_back(run);
    }
    return {n, n, std::move(runs)};
}

}  // namespace

IndexSet held_by(const Axis& axis, std::int64_t first_coordinate, std::int64_t last_coordinate) {
    const std::int64_t n = axis.extent;
    if (n == 0 || first_coordinate >= last_coordinate) return {n, n, {}};
    if (axis.procs == 1 || (first_coordinate == 0 && last_coordinate == axis.procs))
        return whole(n);
    if (axis.partition) return held_by_partition(axis, first_coordinate, last_coordinate);
    const wide modulus = static_cast<wide>(axis.procs) * axis.block;
    const wide first = static_cast<wide>(first_coordinate) * axis.block;
    const wide last = static_cast<wide>(last_coordinate) * axis.block;
    // A negative stride is a positive one, read from the far end; the code below reverses the runs.
    const bool backward = axis.stride < 0;
    wide stride = backward ? -static_cast<wide>(axis.stride) : axis.stride;
    const wide reach = stride * (n - 1);
    const wide lowest = backward ? axis.offset - reach : wide{axis.offset};
    if (lowest + reach < modulus) {  // one round: an interval
        std::vector<Run> runs{axis.indices(first, last)};
        if (runs[0].length == 0) runs.clear();
        return {n, n, std::move(runs)};
    }
    // From here modulus <= lowest + reach, so that it fits 63 bits.
    const auto round = static_cast<std::int64_t>(modulus);
    stride %= modulus;
    if (stride == 0) {
        const wide position = lowest % modulus;
        return first <= position && position < last ? whole(n) : IndexSet{n, n, {}};
    }
    const std::int64_t common = std::gcd(static_cast<std::int64_t>(stride), round);
    const std::int64_t window = std::min(n, round / common);
    // Over one period, beginning at the lowest position.
    const wide start =
        backward ? (axis.offset + static_cast<wide>(axis.stride) * (window - 1)) : lowest;
    const wide offset = base::floor_mod(start, modulus);
    const bool few_rounds = stride * window / modulus <= (last - first) / common;
    std::vector<Run> runs = few_rounds
                                ? runs_by_rounds(stride, offset, modulus, first, last, window)
                                : runs_by_positions(stride, offset, modulus, first, last, window);
    if (backward) {
        std::reverse(runs.begin(), runs.end());
        for (Run& run : runs) run.first = window - run.first - run.length;
    }
    return {n, window, std::move(runs)};
}

}  // namespace hocket::layout
