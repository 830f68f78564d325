// SPDX-License-Identifier: BSD-3-Clause
#include "plan/classes.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

namespace {

using layout::Axis;
using layout::IndexSet;

/// Coordinates with equal signatures have equally many common indices with all of a peer's.
using Signature = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

class Signatures {
  public:
    Signatures(const Axis& own, const Axis& peer) : own_(own), peer_(peer) {
        const std::int64_t round = base::product_up_to(peer.procs, peer.block, base::max_size);
        period_ = round / std::gcd(std::abs(peer.stride) % round, round);
    }
    Signature of(std::int64_t coordinate) const {
        const IndexSet held = layout::held_by(own_, coordinate);
        if (held.empty()) return {0, 0, 0};
        if (peer_.procs == 1) return {1, held.count(), 0};
        if (!peer_.partition && held.runs().size() == 1) {
            const layout::Run& run = held.runs()[0];
            if (!held.repeats()) return {2, run.first % period_, run.length};
            const std::int64_t both = base::lcm_up_to(held.period(), period_, base::max_size);
            if (held.extent() % both == 0)
                return {3, run.first % std::gcd(held.period(), period_), run.length};
        }
        return {4, coordinate, 0};
    }

  private:
    const Axis &own_, &peer_;
    std::int64_t period_;  // of the peer's owners, in indices
};

/// Numbering equal values by their first occurrence.
template <class Value>
class Numbering {
  public:
    std::int64_t of(Value value) {
        return known_.try_emplace(std::move(value), static_cast<std::int64_t>(known_.size()))
            .first->second;
    }
    std::int64_t count() const { return static_cast<std::int64_t>(known_.size()); }

  private:
    std::map<Value, std::int64_t> known_;
};

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;  // comparable Shares

Pairs pairs_of(const std::vector<Share>& shares) {
    Pairs pairs;
    pairs.reserve(shares.size());
    for (const Share& share : shares) pairs.emplace_back(share.coordinate, share.count);
    return pairs;
}

/// Joins coordinates with equal signatures. The first coordinate of each class follows.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> by_signature(const Axis& own,
                                                                             const Axis& peer) {
    const Signatures signatures(own, peer);
    Numbering<Signature> numbers;
    std::vector<std::int64_t> classes, first;
    for (std::int64_t c = 0; c < own.procs; ++c) {
        classes.push_back(numbers.of(signatures.of(c)));
        if (numbers.count() > static_cast<std::int64_t>(first.size())) first.push_back(c);
    }
    return {std::move(classes), std::move(first)};
}

}  // namespace

std::int64_t count_signatures(const Axis& own, const Axis& peer) {
    return static_cast<std::int64_t>(by_signature(own, peer).second.size());
}

DimensionClasses::DimensionClasses(const Axis& from, const Axis& to) {
    std::vector<std::int64_t> first;
    std::tie(source, first) = by_signature(from, to);
    ShareTable table(from, to);
    Numbering<Pairs> numbers;
    std::vector<std::int64_t> merged, kept;  // the class of each signature; a coordinate of each
    std::vector<Pairs> columns_of(static_cast<std::size_t>(to.procs));
    for (const std::int64_t c : first) {
        const std::vector<Share>& row = table.of(c);
        const std::int64_t number = numbers.of(pairs_of(row));
        merged.push_back(number);
        if (number < static_cast<std::int64_t>(source_held.size())) continue;
        source_held.push_back(layout::held_by(from, c).count());
        for (const Share& share : row)
            columns_of[static_cast<std::size_t>(share.coordinate)].emplace_back(number,
                                                                                share.count);
    }
    for (std::int64_t& each : source) each = merged[static_cast<std::size_t>(each)];
    Numbering<Pairs> column_numbers;
    for (std::size_t c = 0; c < columns_of.size(); ++c) {
        const std::int64_t number = column_numbers.of(columns_of[c]);
        destination.push_back(number);
        if (number < static_cast<std::int64_t>(columns.size())) continue;
        destination_held.push_back(layout::held_by(to, static_cast<std::int64_t>(c)).count());
        auto& column = columns.emplace_back();
        for (const auto& [row, count] : columns_of[c]) column.push_back({row, count});
    }
}

namespace {

/// The class of each process: the classes of its coordinates as digits of a number.
ProcessClasses::SideClasses classes_of(const Problem& problem, Side side,
                                       const std::vector<DimensionClasses>& dimensions) {
    ProcessClasses::SideClasses found;
    const bool sends = side == Side::source;
    const layout::Form& form = problem.form(side);
    std::size_t count = 1;
    for (const DimensionClasses& each : dimensions)
        count *= (sends ? each.source_held : each.destination_held).size();
    found.sizes.resize(count, 0);
    for (std::int64_t rank = 0; rank < form.size; ++rank) {
        const auto at = form.place(rank);
        found.of.push_back(-1);
        if (!at) continue;
        std::size_t number = 0;
        for (std::size_t d = 0; d < dimensions.size(); ++d) {
            const DimensionClasses& each = dimensions[d];
            const auto c =
                static_cast<std::size_t>(form.coordinate(problem.dimension(side, d), *at));
            number = number * (sends ? each.source_held : each.destination_held).size() +
                     static_cast<std::size_t>((sends ? each.source : each.destination)[c]);
        }
        found.of.back() = static_cast<std::int64_t>(number);
        ++found.sizes[number];
    }
    return found;
}

}  // namespace

ProcessClasses::ProcessClasses(const Problem& problem) {
    std::vector<DimensionClasses> dimensions;
    for (std::size_t d = 0; d < problem.where.size(); ++d)
        dimensions.emplace_back(problem.axis(Side::source, d), problem.axis(Side::destination, d));
    source = classes_of(problem, Side::source, dimensions);
    destination = classes_of(problem, Side::destination, dimensions);
    columns.push_back({{0, 1}});
    for (const DimensionClasses& each : dimensions) {
        const auto classes = static_cast<std::int64_t>(each.source_held.size());
        std::vector<std::vector<Weight>> next;
        for (const std::vector<Weight>& before : columns)
            for (const std::vector<Weight>& column : each.columns) {
                auto& made = next.emplace_back();
                made.reserve(before.size() * column.size());
                for (const Weight& high : before)
                    for (const Weight& low : column)
                        made.push_back(
                            {high.column * classes + low.column, high.weight * low.weight});
            }
        columns = std::move(next);
    }
}

}  // namespace hocket::plan
