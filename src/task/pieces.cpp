// SPDX-License-Identifier: BSD-3-Clause
#include "task/pieces.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "layout/form.hpp"

namespace hocket::task {

Cut::Cut(const Layout& source, const Layout& destination, std::int64_t count) : count_(count) {
    // The elements of an index range can be anywhere in a local array of listed elements.
    const auto listed = [](const Layout& layout) {
        return layout.is_indexed() && layout.form().segments->listed();
    };
    if (listed(source) || listed(destination)) count_ = 1;
    const Shape& shape = source.shape();
    const auto distributed = [](const Layout& layout, std::size_t d) {
        if (layout.form().boxes) return true;
        return layout.is_indexed() ? d > 0 : layout.form().axes[d].procs > 1;
    };
    // Explicit segments are row-major: a range of the first dimension is a range of each list.
    const bool first_only = source.is_indexed() || destination.is_indexed();
    std::int64_t best = -1;
    for (std::size_t d = 0;
         d < (first_only ? std::min<std::size_t>(shape.size(), 1) : shape.size()); ++d) {
        const std::int64_t rank =
            (distributed(destination, d) ? 0 : 2) + (distributed(source, d) ? 0 : 1);
        if (rank < best || (rank == best && shape[d] <= extent_)) continue;
        best = rank;
        dimension_ = static_cast<std::int64_t>(d);
        extent_ = shape[d];
    }
    if (shape.empty()) {
        if (count > 1)
            throw LayoutError("pieces=" + std::to_string(count) +
                              " of an array without dimensions, which cannot be cut; leave it out");
        extent_ = 1;
    }
}

ArrayPiece Cut::piece(std::int64_t number) const {
    const auto bound = [&](std::int64_t n) {
        return static_cast<std::int64_t>(static_cast<base::wide>(extent_) * n / count_);
    };
    return {dimension_, bound(number), bound(number + 1)};
}

std::vector<Slice> Cut::slices(const Layout& whole, std::int64_t number) const {
    std::vector<Slice> slices;
    for (const std::int64_t extent : whole.shape()) slices.push_back({0, extent, 1, true});
    const ArrayPiece part = piece(number);
    slices[static_cast<std::size_t>(dimension_)] = {part.first, part.last - part.first, 1, true};
    return slices;
}

Layout Cut::layout_of(const Layout& whole, std::int64_t number) const {
    return count_ == 1 ? whole : whole.section(slices(whole, number));
}

Array Cut::array_of(const Array& whole, std::int64_t number) const {
    if (count_ == 1) return whole;
    const auto cut = slices(whole.layout(), number);
    auto* data = static_cast<std::byte*>(whole.data());
    if (whole.process() >= 0) {
        // The local elements of an index range are contiguous along their dimension.
        const auto positions = whole.layout().section_slices(cut, whole.process());
        const std::size_t d =
            whole.layout().is_indexed() ? 0 : static_cast<std::size_t>(dimension_);
        data += positions[d].value().first * whole.strides()[d];
    }
    return Array::wrap(data, whole.layout().section(cut), whole.dtype(), whole.comm(),
                       whole.strides(), whole.keep(), whole.writable());
}

}  // namespace hocket::task
