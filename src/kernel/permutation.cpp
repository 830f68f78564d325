// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/permutation.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::kernel {
namespace {

void check_axes(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes) {
    bool valid = axes.size() == shape.size();
    for (std::size_t k = 0; k < axes.size() && valid; ++k) {
        const auto before = axes.first(k);  // few: a search takes less time than a table
        valid = axes[k] >= 0 && static_cast<std::size_t>(axes[k]) < shape.size() &&
                std::find(before.begin(), before.end(), axes[k]) == before.end();
    }
    if (!valid)
        throw LayoutError("axes " + text::tuple(axes) + " are no permutation of the " +
                          std::to_string(shape.size()) + " dimensions of shape " +
                          text::tuple(shape) + "; name each of 0 to " +
                          std::to_string(shape.size()) + " - 1 once");
}

void check_size(std::span<const std::int64_t> shape, std::int64_t unit) {
    for (const std::int64_t extent : shape)
        if (extent < 0)
            throw LayoutError("shape " + text::tuple(shape) +
                              " has a negative extent; extents are 0 or more");
    const auto count = base::product(shape);
    if (!count || !base::product(*count, unit))
        throw LayoutError("an array of shape " + text::tuple(shape) + " with elements of " +
                          std::to_string(unit) + " bytes is larger than 2^63 bytes");
}

}  // namespace

std::int64_t Permutation::blocks() const {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> Permutation::result() const {
    std::vector<std::int64_t> out;
    for (const std::size_t axis : axes) out.push_back(extents[axis]);
    return out;
}

Permutation inverse(const Permutation& permutation) {
    Permutation out = permutation;
    out.extents = permutation.result();
    for (std::size_t k = 0; k < permutation.dimensions(); ++k) out.axes[permutation.axes[k]] = k;
    return out;
}

std::string Permutation::text() const {
    std::string out = batch > 1 ? std::to_string(batch) + " x " : "";
    return out + text::tuple(extents) + " axes " + text::tuple(axes);
}

void check_permutation(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes,
                       std::int64_t unit) {
    check_axes(shape, axes);
    check_size(shape, unit);
}

Permutation make_permutation(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> axes, std::int64_t unit) {
    check_permutation(shape, axes, unit);
    Permutation out;
    out.block = unit;
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        out.batch = 0;
        return out;
    }
    // Extents of 1 do not move elements, so the dimensions before and after them become neighbours.
    std::vector<std::size_t> order(shape.size());
    std::vector<std::int64_t> kept;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        order[d] = kept.size();
        if (shape[d] != 1) kept.push_back(shape[d]);
    }
    struct Group {
        std::size_t first, last;
        std::int64_t extent;
    };
    std::vector<Group> groups;  // in destination order
    for (const std::int64_t axis : axes) {
        const auto d = static_cast<std::size_t>(axis);
        if (shape[d] == 1) continue;
        const std::size_t at = order[d];
        if (!groups.empty() && groups.back().last + 1 == at) {
            groups.back().last = at;
            groups.back().extent *= kept[at];
        } else {
            groups.push_back({at, at, kept[at]});
        }
    }
    if (!groups.empty() && groups.back().last + 1 == kept.size()) {
        out.block *= groups.back().extent;
        groups.pop_back();
    }
    if (!groups.empty() && groups.front().first == 0) {
        out.batch = groups.front().extent;
        groups.erase(groups.begin());
    }
    for (const Group& group : groups)
        out.axes.push_back(static_cast<std::size_t>(
            std::count_if(groups.begin(), groups.end(),
                          [&](const Group& other) { return other.first < group.first; })));
    out.extents.resize(groups.size());
    for (std::size_t k = 0; k < groups.size(); ++k) out.extents[out.axes[k]] = groups[k].extent;
    return out;
}

std::int64_t RowOrder::count() const {
    if (in_place()) return 0;
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> RowOrder::places(std::int64_t most) const {
    const auto strides = dense_strides(extents, 1);
    std::vector<std::int64_t> at(axes.size(), 0), out;
    most = std::min(most, count());
    out.reserve(static_cast<std::size_t>(most));
    for (std::int64_t place = 0; std::ssize(out) < most;) {
        out.push_back(place);
        for (std::size_t k = axes.size(); k-- > 0; at[k] = 0) {
            place += strides[axes[k]];
            if (++at[k] < extents[axes[k]]) break;
            place -= extents[axes[k]] * strides[axes[k]];
        }
    }
    return out;
}

Successor::Successor(const Permutation& permutation, const Ring& ring)
    : positions_(permutation.blocks()),
      step_(ring.step),
      side_(ring.side),
      across_(ring.across),
      spare_(ring.spare),
      in_ring_(std::max<std::int64_t>(ring.in_ring, 1), positions_),
      band_(std::max<std::int64_t>(ring.in_band(), 1), positions_),
      by_side_(std::max<std::int64_t>(ring.side, 1), positions_),
      by_row_(std::max<std::int64_t>(ring.in_band(), 1),
              positions_ * std::max<std::int64_t>(ring.side, 1)),
      first_(ring.first),
      up_(ring.upwards()) {
    if (side_ > 0) rings_ = base::ceil_div(across_, ring.in_ring);
    if (ring.table_rows(positions_) > 0) list_rows(ring);
    const auto strides = dense_strides(permutation.extents, 1);
    for (std::size_t k = permutation.dimensions(); k-- > 1;) {
        const std::size_t axis = permutation.axes[k];
        digits_.push_back({Divider(permutation.extents[axis], positions_), strides[axis]});
    }
    if (permutation.dimensions() > 0) last_stride_ = strides[permutation.axes[0]];
    if (permutation.dimensions() < 4) return;
    constexpr std::int64_t most = 4096;  // both tables stay in the second-level cache
    std::int64_t positions = 1;
    std::size_t folded = 0;
    while (folded < digits_.size() && positions * digits_[folded].extent.divisor() <= most)
        positions *= digits_[folded++].extent.divisor();
    if (folded < 2 || positions > positions_ / 16) return;
    std::vector<std::int64_t> sources;
    for (std::int64_t k = 0; k < positions; ++k) sources.push_back(by_digits(k));
    digits_.erase(digits_.begin(), digits_.begin() + static_cast<std::ptrdiff_t>(folded));
    folded_ = Divider(positions, positions_);
    const std::int64_t others = positions_ / positions;
    if (others <= most)
        for (std::int64_t k = 0; k < others; ++k) high_.push_back(by_digits(k));
    low_ = std::move(sources);
}

void Successor::list_rows(const Ring& ring) {
    const std::vector<std::int64_t> places = ring.order.places(ring.order.count());
    rows_.resize(static_cast<std::size_t>(ring.table_rows(positions_)));
    for (std::int64_t k = 0; k < std::ssize(rows_); ++k) {
        const std::int64_t place = places.empty() ? k : places[static_cast<std::size_t>(k)];
        const std::int64_t column = k / side_ * ring.in_band() + k % side_;
        rows_[static_cast<std::size_t>(first_ ? k : place)] = {
            static_cast<std::uint32_t>(ring.row_start(place)), static_cast<std::uint32_t>(column)};
    }
}

Successor::Row Successor::compute_row(std::int64_t row) const {
    return {row * band_.divisor() / side_, row / side_ * band_.divisor() + row % side_};
}

std::int64_t Successor::spare_of(std::int64_t position) const {
    const std::int64_t band = band_.quotient(position) * band_.divisor();
    const std::int64_t row = by_row_.quotient((position - band) * side_ + side_ - 1);
    return band + side_ * across_ + row * spare_ / side_;
}

std::int64_t Successor::place_of_spare(std::int64_t band, std::int64_t k) const {
    const std::int64_t next_row = base::ceil_div((k + 1) * side_, spare_);
    return (band * side_ + next_row) * band_.divisor() / side_ - 1;
}

std::int64_t Ring::table_rows(std::int64_t positions) const {
    if (side == 0 || positions > UINT32_MAX) return 0;
    const std::int64_t rows = positions / in_band() * side;
    return rows <= most_rows ? rows : 0;
}

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> extents, std::int64_t unit) {
    std::vector<std::int64_t> strides(extents.size());
    for (std::size_t d = extents.size(); d-- > 0; unit *= extents[d]) strides[d] = unit;
    return strides;
}

}  // namespace hocket::kernel
