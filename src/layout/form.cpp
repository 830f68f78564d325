// SPDX-License-Identifier: BSD-3-Clause
#include "layout/form.hpp"

#include "base/numbering.hpp"

namespace hocket::layout {

Shape strides_of(std::span<const std::int64_t> shape) {
    Shape strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        // With a zero extent there is no element to address, but the product of the others may not
        // fit.
        if (__builtin_mul_overflow(stride, shape[d], &stride)) stride = 0;
    }
    return strides;
}

std::int64_t flatten(std::span<const std::int64_t> index, std::span<const std::int64_t> shape) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
    return place;
}

Shape unflatten(std::int64_t place, std::span<const std::int64_t> shape) {
    Shape index(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        index[d] = place % shape[d];
        place /= shape[d];
    }
    return index;
}

bool Form::aligned() const {
    if (shape != base.shape) return true;
    for (std::size_t d = 0; d < alignment.size(); ++d)
        if (!(alignment[d] == Subscript{Subscript::Kind::index, static_cast<int>(d), 1, 0, 0}))
            return true;
    return false;
}

std::optional<Shape> Form::place(std::int64_t rank) const {
    if (boxes && boxes->box(rank).none) return std::nullopt;
    std::int64_t position = rank;
    if (order) {
        const auto found = order->position.find(rank);
        if (found == order->position.end()) return std::nullopt;
        position = found->second;
    }
    Shape at = unflatten(position, base.procs);
    for (std::size_t g = 0; g < grid.size(); ++g) {
        const Role& role = grid[g];
        if (role.kind == Role::Kind::fixed && at[g] != role.coordinate) return std::nullopt;
        if (role.kind == Role::Kind::copies && !role.holders.contains(at[g])) return std::nullopt;
    }
    return at;
}

std::int64_t Form::position(std::span<const std::int64_t> coordinates) const {
    return flatten(coordinates, base.procs);
}

std::vector<IndexSet> Form::sets(std::int64_t rank) const {
    if (indexed()) return {segments->set(rank)};
    if (boxes) {
        std::vector<IndexSet> result;
        for (std::size_t d = 0; d < shape.size(); ++d)
            result.push_back(interval(boxes->box(rank).ranges[d], shape[d]));
        return result;
    }
    const std::optional<Shape> at = place(rank);
    std::vector<IndexSet> result;
    result.reserve(axes.size());
    for (std::size_t d = 0; d < axes.size(); ++d)
        result.push_back(at ? held_by(axes[d], coordinate(d, *at))
                            : IndexSet{axes[d].extent, axes[d].extent, {}});
    return result;
}

std::int64_t Form::local_elements(std::int64_t rank) const {
    if (indexed()) return segments->set(rank).count();
    if (!place(rank)) return 0;
    std::int64_t result = 1;
    for (const IndexSet& set : sets(rank)) {
        if (set.empty()) return 0;
        result *= set.count();
    }
    return result;
}

std::int64_t Form::copy_number(std::span<const std::int64_t> coordinates) const {
    std::int64_t result = 0;
    for (std::size_t g = 0; g < grid.size(); ++g)
        if (grid[g].kind == Role::Kind::copies)
            result = result * grid[g].holders.count() + grid[g].holders.count_below(coordinates[g]);
    return result;
}

Shape Form::copy_at(std::int64_t copy, Shape coordinates) const {
    for (std::size_t g = coordinates.size(); g-- > 0;) {
        if (grid[g].kind != Role::Kind::copies) continue;
        coordinates[g] = grid[g].holders.element(copy % grid[g].holders.count());
        copy /= grid[g].holders.count();
    }
    return coordinates;
}

void Form::check_rank(std::int64_t rank) const {
    if (rank < 0 || rank >= size) {
        throw LayoutError("there is no process " + std::to_string(rank) + " in the layout " +
                          brief(*this) + "; its processes are 0 to " + std::to_string(size - 1));
    }
}

void Form::check_index(std::span<const std::int64_t> index) const {
    if (index.size() != shape.size())
        throw LayoutError("index " + text::numbers(index) + " has " + std::to_string(index.size()) +
                          " dimensions, but the shape " + text_of(shape) + " has " +
                          std::to_string(shape.size()));
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (index[d] < 0 || index[d] >= shape[d])
            throw LayoutError("index " + text::numbers(index) + " lies outside the shape " +
                              text_of(shape) + " in dimension " + text::number(d) +
                              (shape[d] > 0
                                   ? ", whose indices are " + text::number(std::int64_t{0}) +
                                         " to " + text::number(shape[d] - 1)
                                   : ", which has no indices"));
}

}  // namespace hocket::layout
