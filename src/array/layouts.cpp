// SPDX-License-Identifier: BSD-3-Clause
#include "array/layouts.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "hocket/binding.hpp"
#include "hocket/plan.hpp"
#include "layout/form.hpp"

namespace hocket::array {
namespace {

std::string name(std::size_t d) {
    return "i" + std::to_string(d);
}

std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> found;
    for (std::size_t d = 0; d < count; ++d) found.push_back(name(d));
    return found;
}

std::string list(const std::vector<std::string>& subscripts) {
    std::string text;
    for (const auto& each : subscripts) text += (text.empty() ? "" : ",") + each;
    return "(" + text + ")";
}

template <class T>
std::vector<T> without_entries(std::vector<T> values, const std::vector<std::size_t>& dims) {
    for (std::size_t k = dims.size(); k-- > 0;)
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(dims[k]));
    return values;
}

// `at`: the template's subscript of each of `dims`.
Layout reduced(const Layout& layout, const std::vector<std::size_t>& dims,
               const std::vector<std::string>& at) {
    auto target = names(layout.dimensions());
    for (std::size_t k = 0; k < dims.size(); ++k) target[dims[k]] = at[k];
    return aligned(without_entries(layout.shape(), dims),
                   without_entries(names(layout.dimensions()), dims), target, layout);
}

}  // namespace

std::int64_t elements_of(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Layout aligned(const Shape& shape, const std::vector<std::string>& own,
               const std::vector<std::string>& others, const Layout& target) {
    return Layout::aligned(shape, "A" + list(own) + " WITH T" + list(others), target);
}

Layout transposed(const Layout& layout, const std::vector<std::size_t>& axes) {
    Shape shape;
    std::vector<std::string> own;
    for (const std::size_t axis : axes) {
        shape.push_back(layout.shape()[axis]);
        own.push_back(name(axis));
    }
    return aligned(shape, own, names(layout.dimensions()), layout);
}

Layout mirrored(const Layout& layout) {
    if (layout.dimensions() < 2) return layout;
    std::vector<std::size_t> axes(layout.dimensions());
    std::iota(axes.rbegin(), axes.rend(), std::size_t{0});
    return transposed(layout, axes);
}

Layout without(const Layout& layout, const std::vector<std::size_t>& dims) {
    if (layout.num_elements() == 0)
        for (const std::size_t dim : dims)  // no index, so no holders
            if (layout.shape()[dim] == 0)
                return replicated(without_entries(layout.shape(), dims), layout.size());
    return reduced(layout, dims, std::vector<std::string>(dims.size(), "*"));
}

Layout without(const Layout& layout, const std::vector<std::size_t>& dims,
               const std::vector<std::int64_t>& indices) {
    std::vector<std::string> at;
    for (const std::int64_t index : indices) at.push_back(std::to_string(index));
    return reduced(layout, dims, at);
}

Layout with(const Layout& layout, std::size_t dim, std::int64_t extent) {
    const auto at = static_cast<std::ptrdiff_t>(dim);
    const auto target = names(layout.dimensions());
    auto own = target;
    own.insert(own.begin() + at, "*");
    Shape shape = layout.shape();
    shape.insert(shape.begin() + at, extent);
    return aligned(shape, own, target, layout);
}

Layout balanced(const Shape& shape, std::int64_t size, std::int64_t dim) {
    if (shape.empty()) return {shape, "()"};
    if (dim < 0) {
        const auto enough =
            std::find_if(shape.begin(), shape.end(), [&](auto extent) { return extent >= size; });
        dim = (enough == shape.end() ? std::max_element(shape.begin(), shape.end()) : enough) -
              shape.begin();
    }
    std::vector<Format> formats(shape.size(), Format("*"));
    formats[static_cast<std::size_t>(dim)] = Format("BALANCED");
    return {shape, formats, {size}};
}

Layout replicated(const Shape& shape, std::int64_t size) {
    const std::vector<Format> formats(shape.size(), Format("*"));
    const std::array<std::int64_t, 1> copies{0};
    return {shape, formats, {size}, copies};
}

Layout runs(const Shape& shape, const std::vector<std::int64_t>& counts) {
    std::vector<std::vector<Segment>> segments;
    std::int64_t first = 0;
    for (const std::int64_t count : counts) {
        segments.emplace_back();
        if (count > 0) segments.back().push_back({first, count});
        first += count;
    }
    return Layout::indexed(shape, segments);
}

Layout flat(const Shape& shape, std::int64_t size) {
    const std::int64_t total = elements_of(shape);
    std::vector<std::int64_t> counts;
    for (std::int64_t r = 0; r < size; ++r) counts.push_back(total / size + (r < total % size));
    return runs(shape, counts);
}

Layout parts(const std::vector<std::int64_t>& counts) {
    const std::array<Format, 1> formats{Format::gen_block(counts)};
    return {{std::accumulate(counts.begin(), counts.end(), std::int64_t{0})},
            formats,
            {static_cast<std::int64_t>(counts.size())}};
}

Layout like(const Layout& layout, const Shape& shape) {
    if (layout.shape() == shape) return layout;
    if (layout.dist().starts_with('(')) {
        try {
            return {shape, layout.dist(), layout.procs(), layout.replicate()};
        } catch (const LayoutError&) {  // its extents do not fit this shape
            return balanced(shape, layout.size());
        }
    }
    return balanced(shape, layout.size());
}

bool is_local(const Layout& layout, std::size_t dim) {
    return layout.form().gridded() && parts_along(layout, dim).size() <= 1;
}

std::vector<std::int64_t> parts_along(const Layout& layout, std::size_t dim) {
    std::vector<std::int64_t> found;
    if (layout.num_elements() == 0) return found;
    const layout::Axis& axis = layout.form().axes[dim];
    if (axis.grid < 0) return {0};
    for (std::int64_t coordinate = 0; coordinate < axis.procs; ++coordinate)
        if (const auto held = held_by(axis, coordinate); !held.empty())
            found.push_back(held.element(0));
    std::sort(found.begin(), found.end());
    return found;
}

bool without_copies(const Layout& layout) {
    if (layout.form().gridded()) return layout.form().copies == 1;
    std::int64_t held = 0;
    for (std::int64_t rank = 0; rank < layout.size(); ++rank) held += layout.local_elements(rank);
    return held == layout.num_elements();
}

bool is_in_rank_order(const Layout& layout) {
    const layout::Form& form = layout.form();
    if (form.boxes || !without_copies(layout)) return false;
    if (form.indexed()) {
        std::vector<std::int64_t> counts;
        for (std::int64_t r = 0; r < layout.size(); ++r) counts.push_back(layout.local_elements(r));
        return layout == runs(layout.shape(), counts);
    }
    std::int64_t next = 0;  // the number of the first element that no process before has
    for (std::int64_t r = 0; r < layout.size(); ++r) {
        if (layout.local_elements(r) == 0) continue;
        const auto sets = form.sets(r);
        std::int64_t first = 0, last = 0, count = 1;
        for (std::size_t d = 0; d < sets.size(); ++d) {
            first = first * form.shape[d] + sets[d].element(0);
            last = last * form.shape[d] + sets[d].element(sets[d].count() - 1);
            count *= sets[d].count();
        }
        if (first != next || last - first + 1 != count) return false;
        next = last + 1;
    }
    return true;
}

std::int64_t moved(const Layout& source, const Layout& destination) {
    if (source == destination) return 0;
    plan::Options options;
    for (std::int64_t rank = 0; rank < destination.size(); ++rank)
        options.overlap.push_back(rank < source.size() ? rank : -1);
    options.strategy = "direct";
    return Plan(source, destination, options).elements_moved();
}

Layout cheapest(const std::vector<std::pair<Layout, std::int64_t>>& operands) {
    std::size_t best = 0;
    std::int64_t least = -1;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const bool again = std::any_of(operands.begin(), operands.begin() + static_cast<long>(k),
                                       [&](const auto& e) { return e.first == operands[k].first; });
        if (again) continue;
        std::int64_t bytes = 0;
        for (const auto& [layout, itemsize] : operands)
            bytes += itemsize * moved(layout, operands[k].first);
        if (least < 0 || bytes < least) {
            least = bytes;
            best = k;
        }
    }
    return operands[best].first;
}

}  // namespace hocket::array

std::vector<std::int64_t> hocket::Binding::parts_along(const Layout& layout,
                                                       std::size_t dimension) {
    return array::parts_along(layout, dimension);
}

std::int64_t hocket::Binding::number_of(const Layout& layout, std::int64_t process,
                                        std::int64_t place) {
    const layout::Form& form = layout.form();
    form.check_rank(process);
    if (form.indexed()) {
        for (const layout::Segment& segment : form.segments->in_order(process)) {
            if (place < segment.length) return segment.first + place;
            place -= segment.length;
        }
    }
    const auto sets = form.sets(process);
    std::int64_t number = 0, step = 1;
    for (std::size_t d = sets.size(); d-- > 0; step *= layout.shape()[d]) {
        number += sets[d].element(place % sets[d].count()) * step;
        place /= sets[d].count();
    }
    return number;
}
