// SPDX-License-Identifier: BSD-3-Clause
// Scatter with combining: each value travels to the owner of its element, with its own number, by
// which the owner orders the values.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "array/exchange.hpp"
#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "base/text.hpp"

namespace hocket {
namespace {

using namespace array;

// Combines an element with `count` values one after the other.
void combine_values(std::byte* element, const std::byte* values, std::int64_t count, Combine op,
                    const DType& dtype) {
    const auto size = static_cast<std::size_t>(dtype.size);
    if (op == Combine::replace) {
        std::memcpy(element, values + static_cast<std::size_t>(count - 1) * size, size);
        return;
    }
    const auto type = exact_type(dtype);
    if (op != Combine::sum || !type) {
        const FoldLoops loops = fold_loops(op, dtype);
        for (std::int64_t k = 0; k < count; ++k)
            loops.combine(element, values + static_cast<std::size_t>(k) * size, 1);
        return;
    }
    std::vector<std::byte> terms(static_cast<std::size_t>(count + 1) * size);
    std::memcpy(terms.data(), element, size);
    std::memcpy(terms.data() + size, values, static_cast<std::size_t>(count) * size);
    const std::int64_t shape[]{count + 1}, strides[]{dtype.size};
    const std::int64_t half = dtype.size / type->parts;
    for (int part = 0; part < type->parts; ++part)
        exact::sum({.number = type->number,
                    .a = terms.data() + part * half,
                    .shape = shape,
                    .a_strides = strides},
                   type->number, element + part * half);
}

void require_indices(const Array& base, const Array& values, std::span<const Array> indices) {
    if (indices.size() != base.layout().dimensions())
        throw LayoutError("there are " + std::to_string(indices.size()) +
                          " arrays of indices for a base of shape " +
                          text::tuple(base.layout().shape()) + "; give one a dimension");
    for (const Array& index : indices) {
        require_comm(base, index);
        require_shape(values, index, "an array of indices");
        require_integers(index, "an array of indices");
    }
}

void require_inside(const std::vector<std::vector<std::int64_t>>& along, const Shape& shape,
                    const std::vector<std::uint8_t>& mask, std::int64_t first) {
    for (std::size_t d = 0; d < along.size(); ++d)
        for (std::size_t k = 0; k < along[d].size(); ++k) {
            const std::int64_t index = along[d][k];
            if ((index >= 0 && index < shape[d]) || (!mask.empty() && mask[k] == 0)) continue;
            throw LayoutError(
                "index " + std::to_string(index + first) + " lies outside dimension " +
                std::to_string(static_cast<std::int64_t>(d) + first) + " of a base of shape " +
                text::tuple(shape) + "; give " + std::to_string(first) + " to " +
                std::to_string(shape[d] - 1 + first));
        }
}

}  // namespace

Array scatter_combine(const Array& base, const Array& values, std::span<const Array> indices,
                      Combine op, const ComputeOptions& options) {
    const Deadline deadline = options.deadline;
    const Comm& comm = base.comm();
    std::string text = "scatter_combine(" + said(base) + ", " + said(values);
    for (const Array& index : indices) text += ", " + said(index);
    agree(comm, text + ", " + name_of(op) + said_with_first(options) + ")", deadline, [&] {
        require_comm(base, values);
        require_own_mask(values, options);
        require_indices(base, values, indices);
        if (!(base.dtype() == values.dtype()))
            throw MismatchError("the values hold " + values.dtype().name + ", but the base " +
                                base.dtype().name + "; make both of one type");
        if (op != Combine::replace && !(op == Combine::sum && exact_type(base.dtype())))
            static_cast<void>(fold_loops(op, base.dtype()));
    });
    const Array given = sole(in_order(values, options), deadline);
    const Layout& at = given.layout();
    std::vector<std::uint8_t> mask;
    if (options.mask) mask = truths(to(in_order(*options.mask, options), at, deadline));
    std::vector<std::vector<std::int64_t>> along;
    for (const Array& index : indices)
        along.push_back(integers(to(in_order(index, options), at, deadline), options.first_index));
    agree(comm, "scatter_combine", deadline,
          [&] { require_inside(along, base.layout().shape(), mask, options.first_index); });

    const Array alone = sole(base, deadline);
    const Dense elements(given);
    const auto size = static_cast<std::size_t>(base.dtype().size);
    std::vector<std::int64_t> targets, turns;
    std::vector<std::byte> chosen;
    const auto own_numbers = numbers(given);
    for (std::size_t k = 0; k < own_numbers.size(); ++k) {
        if (!mask.empty() && mask[k] == 0) continue;
        std::int64_t target = 0;
        for (std::size_t d = 0; d < along.size(); ++d)
            target = target * base.layout().shape()[d] + along[d][k];
        targets.push_back(target);
        turns.push_back(own_numbers[k]);
        chosen.insert(chosen.end(), elements.data() + k * size, elements.data() + (k + 1) * size);
    }
    const Delivered came =
        deliver(comm, alone.layout(), targets, chosen.data(), base.dtype().size, turns, deadline);
    std::vector<std::size_t> order(came.offsets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return came.offsets[a] < came.offsets[b];
    });
    // In new memory; the base does not change.
    const Array result = Array::empty(alone.layout(), base.dtype(), comm);
    const Dense before(alone);
    auto* const into = static_cast<std::byte*>(result.data());
    if (before.count() > 0)
        std::memcpy(into, before.data(), static_cast<std::size_t>(before.count()) * size);
    std::vector<std::byte> together;
    for (std::size_t k = 0; k < order.size();) {
        const std::int64_t offset = came.offsets[order[k]];
        together.clear();
        for (; k < order.size() && came.offsets[order[k]] == offset; ++k) {
            const std::byte* const value = came.values.data() + order[k] * size;
            together.insert(together.end(), value, value + size);
        }
        combine_values(into + static_cast<std::size_t>(offset) * size, together.data(),
                       static_cast<std::int64_t>(together.size() / size), op, base.dtype());
    }
    if (options.order == Order::row_major) return to(result, base.layout(), deadline);
    const Layout layout = in_order(base.layout(), options, comm.size());
    const Array back = Array::empty(layout, base.dtype(), comm);
    copy(result, out_of_order(back, options), deadline);
    return out_of_order(back, options, base.layout());
}

}  // namespace hocket
