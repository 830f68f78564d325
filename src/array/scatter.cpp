// SPDX-License-Identifier: BSD-3-Clause
// Scatter with combining: each value travels to the owner of its element, with its own number, by
// which the owner orders the values.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "base/text.hpp"
#include "layout/form.hpp"

namespace hocket {
namespace {

using namespace array;

// The owner of each element, and the local index at the owner.
class Owners {
  public:
    explicit Owners(const Layout& layout) : layout_(layout) {}
    std::int64_t owner(const Shape& index) const { return layout_.owner(index); }
    std::int64_t offset(const Shape& index, std::int64_t owner) {
        const auto [found, added] = shapes_.try_emplace(owner);
        if (added) found->second = layout_.local_shape(owner);
        std::int64_t offset = 0;
        const Shape at = layout_.local_index(index);
        for (std::size_t d = 0; d < at.size(); ++d) offset = offset * found->second[d] + at[d];
        return offset;
    }

  private:
    const Layout& layout_;
    std::unordered_map<std::int64_t, Shape> shapes_;
};

struct Heading {
    std::int64_t offset, number;  // in the owner's local array; of the value
};

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
    const Comm comm = base.comm();
    std::string text = "scatter_combine(" + said(base) + ", " + said(values);
    for (const Array& index : indices) text += ", " + said(index);
    agree(comm, text + ", " + name_of(op) + said(options) + ")", deadline, [&] {
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

    Array alone = sole(base, deadline);
    Owners owners(alone.layout());
    const Dense elements(given);
    const auto own_numbers = numbers(given);
    const auto size = static_cast<std::size_t>(base.dtype().size);
    const std::size_t each = sizeof(Heading) + size;
    std::vector<std::int64_t> processes;
    std::vector<std::byte> records;
    Shape index(along.size());
    for (std::size_t k = 0; k < own_numbers.size(); ++k) {
        if (!mask.empty() && mask[k] == 0) continue;
        for (std::size_t d = 0; d < along.size(); ++d) index[d] = along[d][k];
        const std::int64_t owner = owners.owner(index);
        const Heading heading{owners.offset(index, owner), own_numbers[k]};
        processes.push_back(owner);
        records.resize(records.size() + each);
        std::byte* const record = records.data() + records.size() - each;
        std::memcpy(record, &heading, sizeof heading);
        std::memcpy(record + sizeof heading, elements.data() + k * size, size);
    }
    const Records arrived =
        exchange(comm, processes, records.data(), static_cast<std::int64_t>(each), deadline);

    std::vector<std::pair<Heading, std::int64_t>> order;
    for (std::int64_t k = 0; k < arrived.count; ++k) {
        Heading heading{};
        std::memcpy(&heading, arrived.data.get() + static_cast<std::size_t>(k) * each,
                    sizeof heading);
        order.emplace_back(heading, k);
    }
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.offset, a.first.number) <
               std::pair(b.first.offset, b.first.number);
    });
    // In new memory; the base does not change.
    const Array result = Array::empty(alone.layout(), base.dtype(), comm);
    const Dense before(alone);
    auto* const into = static_cast<std::byte*>(result.data());
    if (before.count() > 0)
        std::memcpy(into, before.data(), static_cast<std::size_t>(before.count()) * size);
    std::vector<std::byte> together;
    for (std::size_t k = 0; k < order.size();) {
        const std::int64_t offset = order[k].first.offset;
        together.clear();
        for (; k < order.size() && order[k].first.offset == offset; ++k) {
            const std::byte* const value = arrived.data.get() +
                                           static_cast<std::size_t>(order[k].second) * each +
                                           sizeof(Heading);
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
