// SPDX-License-Identifier: BSD-3-Clause
#include "layout/partition.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "hocket/error.hpp"

namespace hocket::layout {

namespace {

std::int64_t checked_sum(std::int64_t sum, std::int64_t length, const char* what) {
    const auto next = base::sum(sum, length);
    if (!next)
        throw LayoutError(std::string(what) + " has more than 2^63 - 1 positions; give fewer");
    return *next;
}

}  // namespace

Partition Partition::gen_block(std::span<const std::int64_t> extents) {
    Partition partition;
    partition.begins_.reserve(extents.size() + 1);
    for (const std::int64_t extent : extents) {
        if (extent < 0)
            throw LayoutError("GEN_BLOCK has the negative extent " + std::to_string(extent) +
                              "; extents are 0 or more");
        partition.begins_.push_back(partition.extent_);
        partition.extent_ = checked_sum(partition.extent_, extent, "GEN_BLOCK");
    }
    partition.begins_.push_back(partition.extent_);
    partition.pieces_ = static_cast<std::int64_t>(extents.size());
    return partition;
}

Partition Partition::balanced(std::int64_t extent, std::int64_t coordinates) {
    Partition partition;
    partition.extent_ = extent;
    partition.pieces_ = coordinates;
    return partition;
}

Partition Partition::indirect(std::span<const OwnedRun> runs) {
    Partition partition;
    for (const OwnedRun& run : runs) {
        if (run.owner < 0)
            throw LayoutError("INDIRECT gives index " + text::number(partition.extent_) +
                              " to process " + std::to_string(run.owner) +
                              "; processes are 0 or more");
        if (run.length < 0)
            throw LayoutError("INDIRECT has a run of " + std::to_string(run.length) +
                              " indices; give 0 or more");
        if (run.length == 0) continue;
        if (partition.owners_.empty() || partition.owners_.back() != run.owner) {
            partition.begins_.push_back(partition.extent_);
            partition.owners_.push_back(run.owner);
        }
        partition.extent_ = checked_sum(partition.extent_, run.length, "INDIRECT");
    }
    partition.begins_.push_back(partition.extent_);
    partition.pieces_ = static_cast<std::int64_t>(partition.owners_.size());
    partition.by_owner_.resize(partition.owners_.size());
    std::iota(partition.by_owner_.begin(), partition.by_owner_.end(), 0);
    std::stable_sort(partition.by_owner_.begin(), partition.by_owner_.end(),
                     [&](std::int64_t a, std::int64_t b) {
                         return partition.owner_of(a) < partition.owner_of(b);
                     });
    return partition;
}

Partition Partition::indirect(std::span<const std::int64_t> owners) {
    std::vector<OwnedRun> runs;
    for (const std::int64_t owner : owners) {
        if (!runs.empty() && runs.back().owner == owner)
            ++runs.back().length;
        else
            runs.push_back({1, owner});
    }
    return indirect(runs);
}

std::int64_t Partition::begin(std::int64_t piece) const {
    if (!begins_.empty()) return begins_[static_cast<std::size_t>(piece)];
    return piece * (extent_ / pieces_) + std::min(piece, extent_ % pieces_);
}

std::int64_t Partition::piece_at(std::int64_t position) const {
    if (!begins_.empty()) {
        const auto after = std::upper_bound(begins_.begin(), begins_.end() - 1, position);
        return after - begins_.begin() - 1;
    }
    const std::int64_t least = extent_ / pieces_, longer = extent_ % pieces_;
    const std::int64_t end = longer * (least + 1);  // of those with one position more
    return position < end ? position / (least + 1) : longer + (position - end) / least;
}

std::vector<Run> Partition::owned(std::int64_t first, std::int64_t last, std::int64_t low,
                                  std::int64_t high) const {
    std::vector<Run> runs;
    low = std::max<std::int64_t>(low, 0);
    high = std::min(high, extent_);
    const auto add = [&](std::int64_t begin, std::int64_t end) {
        begin = std::max(begin, low);
        end = std::min(end, high);
        if (begin >= end) return;
        if (!runs.empty() && runs.back().first + runs.back().length == begin)
            runs.back().length += end - begin;
        else
            runs.push_back({begin, end - begin});
    };
    if (low >= high || first >= last) return runs;
    if (in_order()) {
        if (pieces_ > 0) add(begin(first), begin(last));
        return runs;
    }
    const std::int64_t lowest = piece_at(low), highest = piece_at(high - 1);
    // The pieces [lowest, highest] of one owner are consecutive in by_owner_.
    const auto at = [&](std::int64_t owner, std::int64_t piece) {
        return std::partition_point(by_owner_.begin(), by_owner_.end(), [&](std::int64_t k) {
            return owner_of(k) < owner || (owner_of(k) == owner && k < piece);
        });
    };
    if (last - first == 1) {
        for (auto k = at(first, lowest), end = at(first, highest + 1); k != end; ++k)
            add(begin(*k), begin(*k + 1));
    } else {
        for (std::int64_t k = lowest; k <= highest; ++k)
            if (owner_of(k) >= first && owner_of(k) < last) add(begin(k), begin(k + 1));
    }
    return runs;
}

}  // namespace hocket::layout
