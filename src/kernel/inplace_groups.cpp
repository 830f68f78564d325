// SPDX-License-Identifier: BSD-3-Clause
// Tensors in two passes, also if source and result share fast dimensions, so that no square tile
// has rows and columns. A pass permutes groups of rows, which a cache holds, through a buffer: a
// group then consists of whole blocks of the result, and cycles move these. Or cycles come first,
// and the pass takes blocks apart.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kernel/costs.hpp"
#include "kernel/groups.hpp"
#include "kernel/inplace_steps.hpp"

namespace hocket::kernel {
namespace {

using Extents = std::vector<std::int64_t>;

/// The dimensions of a group, for a permutation or, to take blocks apart, for its inverse.
class Grouped {
  public:
    /// A block is the `in_block` fastest dimensions of the result, but only `side` of the slowest
    /// of them; a row is the source's dimensions from `first` on, but only `part` of that one.
    Grouped(const Permutation& permutation, std::size_t in_block, std::int64_t side,
            std::size_t first, std::int64_t part);

    const Groups& groups() const { return groups_; }
    /// The remaining permutation.
    const Permutation& of_blocks() const { return moved_; }

  private:
    struct Dimension {
        std::int64_t extent, stride, rest;  // rest: that no dimension of rows has taken
        bool block = false;
        Extents places{};  // among the dimensions of the blocks' positions
    };
    void add(std::int64_t extent, std::int64_t stride, std::size_t axis) {
        cut_[axis].push_back(dimensions_.size());
        dimensions_.push_back({extent, stride, extent});
    }
    Extents share_rows(std::size_t first);

    std::vector<Dimension> dimensions_;  // of the source, cut
    std::vector<std::vector<std::size_t>> cut_;
    Groups groups_;
    Permutation moved_;
};

Grouped::Grouped(const Permutation& permutation, std::size_t in_block, std::int64_t side,
                 std::size_t first, std::int64_t part)
    : cut_(permutation.dimensions()) {
    const auto& axes = permutation.axes;
    const std::size_t slowest = axes[axes.size() - in_block];
    const Extents strides = dense_strides(permutation.extents, permutation.block);
    std::size_t row = 0;
    for (std::size_t d = 0; d < permutation.dimensions(); ++d) {
        const std::int64_t extent = permutation.extents[d];
        const std::int64_t inner = d == slowest ? side : d == first ? part : extent;
        if (inner < extent) add(extent / inner, strides[d] * inner, d);
        if (d == first) row = dimensions_.size();
        add(inner, strides[d], d);
    }
    std::vector<std::size_t> order;  // of the result
    for (const std::size_t axis : axes)
        order.insert(order.end(), cut_[axis].begin(), cut_[axis].end());
    const auto at = std::find(order.begin(), order.end(), cut_[slowest].back());
    for (auto each = at; each != order.end(); ++each) dimensions_[*each].block = true;

    groups_.unit = permutation.block;
    groups_.run = dimensions_[row].stride * dimensions_[row].extent;
    groups_.all.add(permutation.batch, permutation.blocks() * permutation.block);
    const Extents parts = share_rows(row);
    Extents shape{permutation.batch}, to{0};
    for (std::size_t d = 0; d < row; ++d) {
        Dimension& each = dimensions_[d];
        if (!each.block) {
            each.places.push_back(std::ssize(shape));
            groups_.all.add(each.extent, each.stride);
        }
        shape.push_back(each.extent);
    }
    for (std::size_t d = row; d < dimensions_.size(); ++d) {
        Dimension& each = dimensions_[d];
        if (each.block) continue;
        each.places.push_back(std::ssize(shape));
        shape.push_back(each.rest);
        groups_.ordered.add(each.rest, each.stride);
    }
    std::int64_t block = permutation.block;
    for (const std::size_t d : order) {
        const Dimension& each = dimensions_[d];
        to.insert(to.end(), each.places.begin(), each.places.end());
        if (!each.block) continue;
        groups_.ordered.add(each.extent, each.stride);
        block *= each.extent;
    }
    to.insert(to.end(), parts.begin(), parts.end());
    groups_.part = block / groups_.parts.count();
    moved_ = make_permutation(shape, to, groups_.part);
}

/// Divides the blocks of a group among its rows: each dimension of rows takes a factor of one of
/// the dimensions that number blocks, or else divides each block. Returns the places of those that
/// do.
Extents Grouped::share_rows(std::size_t first) {
    Extents parts;
    for (std::size_t d = 0; d < first; ++d) {
        if (!dimensions_[d].block) continue;
        const std::int64_t extent = dimensions_[d].extent;
        Dimension* taken = nullptr;
        for (std::size_t k = first; k < dimensions_.size(); ++k) {
            Dimension& each = dimensions_[k];
            const bool divides = !each.block && each.rest % extent == 0;
            if (divides && (!taken || each.rest == extent)) taken = &each;
        }
        const std::int64_t place = static_cast<std::int64_t>(d) + 1;
        if (!taken) {
            groups_.parts.add(extent, dimensions_[d].stride);
            parts.push_back(place);
            continue;
        }
        taken->rest /= extent;
        taken->places.push_back(place);
        groups_.rows.add(extent, dimensions_[d].stride);
        groups_.ordered.add(extent, taken->stride * taken->rest);
    }
    return parts;
}

/// The divisors of the extents of a permutation.
std::vector<Extents> divisors(const Permutation& permutation) {
    std::vector<Extents> out;
    for (const std::int64_t extent : permutation.extents) {
        Extents low, high;
        for (std::int64_t d = 1; d * d <= extent; ++d) {
            if (extent % d != 0) continue;
            low.push_back(d);
            if (d * d < extent) high.push_back(extent / d);
        }
        low.insert(low.end(), high.rbegin(), high.rend());
        out.push_back(std::move(low));
    }
    return out;
}

/// Searches the cheapest groups of a permutation: there are up to some thousand, so it computes the
/// cost of each before it divides any dimension.
class Search {
  public:
    struct Found {
        Grouped grouped;
        bool gathers;
        double cost;
        std::int64_t memory;
        Permutation moved;
    };
    explicit Search(const Resources& means) : means_(means) {}

    void run(const Permutation& whole, bool gathers) {
        const std::vector<Extents> parts = divisors(whole);
        std::int64_t block = whole.block;
        std::vector<bool> of_block(whole.dimensions(), false);
        for (std::size_t in_block = 1; in_block < whole.dimensions(); ++in_block) {
            const std::size_t slowest = whole.axes[whole.dimensions() - in_block];
            of_block[slowest] = true;
            for (const std::int64_t side : parts[slowest]) {
                if (side * block < shortest) continue;
                if (side * block > longest_block) break;
                std::int64_t inner = whole.block, rows = 1;
                for (std::size_t d = 0; d < whole.dimensions(); ++d)
                    if (of_block[d]) rows *= d == slowest ? side : whole.extents[d];
                for (std::size_t first = whole.dimensions(); first-- > 0;) {
                    const std::int64_t extent = whole.extents[first];
                    const bool cut = !of_block[first];
                    if (!cut) rows /= first == slowest ? side : extent;
                    const std::int64_t whole_part = first == slowest ? side : extent;
                    for (const std::int64_t part : cut ? parts[first] : Extents{whole_part}) {
                        const std::int64_t row = inner * part;
                        if (row < shortest) continue;
                        if (row * rows > largest) break;
                        consider(whole, {in_block, side, first, part}, row, rows, gathers);
                    }
                    inner *= extent;
                    if (inner > largest) break;
                }
            }
            block *= whole.extents[slowest];
            if (block > longest_block) break;
        }
    }
    const std::optional<Found>& best() const { return best_; }

  private:
    static constexpr std::int64_t shortest = 512, longest_block = 256 << 10, largest = 8 << 20;

    struct Cut {
        std::size_t in_block;
        std::int64_t side;
        std::size_t first;
        std::int64_t part;
    };
    void consider(const Permutation& whole, const Cut& cut, std::int64_t row, std::int64_t rows,
                  bool gathers) {
        // Rows begin and end within lines, and nothing prefetches most of them.
        const double pass = buffered(row * rows) + 64.0 / static_cast<double>(row);
        if (best_ && pass >= best_->cost) return;
        const Grouped grouped(whole, cut.in_block, cut.side, cut.first, cut.part);
        Permutation moved = grouped.of_blocks();
        const double cost = pass + grouped.groups().cost_of_copies() +
                            (moved.identity() ? 0.0 : scattered(moved.block, moved.dimensions()));
        if (best_ && cost >= best_->cost) return;
        if (!gathers) moved = inverse(moved);
        const std::int64_t memory = grouped.groups().memory(means_.threads) +
                                    move_cycles_memory(moved, BlockPositions::dense(moved.block),
                                                       {.threads = means_.threads, .schedule = {}});
        if (memory <= means_.memory)
            best_.emplace(Found{grouped, gathers, cost, memory, std::move(moved)});
    }

    const Resources& means_;
    std::optional<Found> best_;
};

}  // namespace

std::optional<Step> grouped_step(const Permutation& permutation, const Resources& means) {
    Search search(means);
    search.run(permutation, true);
    search.run(inverse(permutation), false);
    if (!search.best()) return std::nullopt;
    const auto& [grouped, gathers, cost, memory, moved] = *search.best();
    const Groups& groups = grouped.groups();
    const std::string parts =
        "groups of " + std::to_string(groups.count()) + " rows of " + size_text(groups.run) +
        (groups.parts.count() > 1 ? ", in parts of " + size_text(groups.part) + "," : "") +
        " through a buffer";
    const std::string cycles = "cycles of " + size_text(moved.block) + " blocks: " + moved.text();
    return Step{
        .what = moved.identity() ? parts
                : gathers        ? parts + ", then " + cycles
                                 : cycles + ", then " + parts,
        .cost = cost,
        .memory = memory,
        .run = [groups, moved = moved, gathers = gathers](std::byte* array, const Pass& pass) {
            if (gathers) groups.permute(array, true, pass.threads);
            move_cycles(array, moved, BlockPositions::dense(moved.block), pass);
            if (!gathers) groups.permute(array, false, pass.threads);
        }};
}

}  // namespace hocket::kernel
