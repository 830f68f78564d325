// SPDX-License-Identifier: BSD-3-Clause
#include "layout/owners.hpp"

namespace hocket::layout {

Owners::Owners(const Layout& layout, std::size_t questions)
    : layout_(layout), index_(layout.dimensions()) {
    const Form& form = layout_.form();
    // In another order of processes, the lowest of several owners has no rule.
    by_tables_ = form.gridded() && form.elements > 0 && (!form.order || form.copies == 1);
    if (!by_tables_) return;
    dimensions_.resize(form.axes.size());
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        dimensions_[d].axis = &form.axes[d];
        const std::int64_t procs = form.axes[d].grid < 0 ? 1 : form.axes[d].procs;
        dimensions_[d].held.resize(static_cast<std::size_t>(procs));
    }
    const Shape steps = strides_of(form.base.procs);
    for (std::size_t g = 0; g < form.grid.size(); ++g) {
        const Role& role = form.grid[g];
        if (role.kind == Role::Kind::dimension)
            dimensions_[static_cast<std::size_t>(role.dimension)].step = steps[g];
        else if (role.kind == Role::Kind::copies)
            first_ += steps[g] * role.holders.element(0);
        else
            first_ += steps[g] * role.coordinate;
    }
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        if (form.shape[d] >= static_cast<std::int64_t>(questions)) continue;
        for (std::int64_t index = 0; index < form.shape[d]; ++index)
            dimensions_[d].table.push_back(find(dimensions_[d], index));
    }
}

Owners::Index Owners::find(Dimension& own, std::int64_t index) {
    const std::int64_t coordinate = own.axis->grid < 0 ? 0 : own.axis->owner(index);
    Held& held = own.held[static_cast<std::size_t>(coordinate)];
    if (!held.known) held = {true, held_by(*own.axis, coordinate), 0};
    return {own.step * coordinate, held.indices.count_below(index, held.hint),
            held.indices.count()};
}

Owners::Place Owners::of(std::span<const std::int64_t> index) {
    if (!by_tables_) return of_list(index);
    std::int64_t position = first_, offset = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        Dimension& own = dimensions_[d];
        if (!own.table.empty()) {
            own.found = own.table[static_cast<std::size_t>(index[d])];
        } else if (index[d] != own.latest) {
            own.found = find(own, index[d]);
            own.latest = index[d];
        }
        position += own.found.position;
        offset = offset * own.found.count + own.found.local;
    }
    return {layout_.form().process_at(position), offset};
}

Owners::Place Owners::of(std::int64_t number) {
    const Shape& shape = layout_.shape();
    for (std::size_t d = shape.size(); d-- > 0; number /= shape[d]) index_[d] = number % shape[d];
    return of(index_);
}

Owners::Place Owners::of_list(std::span<const std::int64_t> index) {
    Place found{layout_.owner(index), 0};
    const auto [shape, added] = local_shapes_.try_emplace(found.process);
    if (added) shape->second = layout_.local_shape(found.process);
    const Shape at = layout_.local_index(index);
    for (std::size_t d = 0; d < at.size(); ++d)
        found.offset = found.offset * shape->second[d] + at[d];
    return found;
}

void locate(const Layout& layout, std::span<const std::int64_t> numbers, std::int64_t* owners,
            std::int64_t* offsets) {
    Owners places(layout, numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const auto [process, offset] = places.of(numbers[k]);
        owners[k] = process;
        offsets[k] = offset;
    }
}

}  // namespace hocket::layout
