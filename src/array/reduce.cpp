// SPDX-License-Identifier: BSD-3-Clause
// Reductions: each process reduces its part, and then processes combine partial results.
#include <algorithm>
#include <cstring>

#include "array/cells.hpp"
#include "array/exact_sums.hpp"
#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "array/partials.hpp"
#include "hocket/binding.hpp"
#include "hocket/columns.hpp"
#include "layout/form.hpp"

namespace hocket {
namespace {

using namespace array;

// An array of no dimensions with the cell's result, on every process.
Array everywhere(const Cells& cells, const std::byte* cell, const Comm& comm) {
    const Array result = Array::empty(replicated({}, comm.size()), cells.result, comm);
    cells.finish(cell, 1, result.data());
    return result;
}

// The merged cell of all processes. Collective.
std::vector<std::byte> merged(const Cells& cells, const std::byte* mine, const Comm& comm,
                              Deadline deadline) {
    const auto all = allgather(comm, mine, cells.bytes, deadline);
    std::vector<std::byte> cell(all.begin(), all.begin() + cells.bytes);
    for (int rank = 1; rank < comm.size(); ++rank)
        cells.merge(cell.data(), all.data() + rank * cells.bytes, 1);
    return cell;
}

struct Operand {
    Array array;
    std::optional<Array> mask;

    // Brings both to the layout of the first, which has no listed elements or boxes if `grid`.
    void settle(bool grid, Deadline deadline) {
        if (grid)
            array = on_grid(array, deadline);
        else if (!array.layout().form().gridded())
            array = sole(array, deadline);
        if (mask) mask = to(*mask, array.layout(), deadline);
    }
};

// Local elements as lines along the reduced dimension (or as one line).
class LocalLines {
  public:
    LocalLines(const Operand& operand, std::optional<std::size_t> dim, bool numbered)
        : elements_(operand.array) {
        lines.elements = elements_.data();
        if (operand.mask) {
            mask_ = truths(*operand.mask);
            lines.mask = mask_.data();
        }
        if (dim) {
            const Shape& shape = operand.array.local_shape();
            const auto at = shape.begin() + static_cast<std::ptrdiff_t>(*dim);
            lines.outer = elements_of({shape.begin(), at});
            lines.length = *at;
            lines.inner = elements_of({at + 1, shape.end()});
            if (numbered && elements_.count() > 0)
                numbers_ = operand.array.layout().global_indices(operand.array.process())[*dim];
        } else {
            lines.length = elements_.count();
            if (numbered) numbers_ = numbers(operand.array);
        }
        lines.numbers = numbers_;
    }
    Lines lines;

  private:
    Dense elements_;
    std::vector<std::uint8_t> mask_;
    std::vector<std::int64_t> numbers_;
};

std::vector<std::byte> reduced_all(Operand operand, const Cells& cells, bool numbered,
                                   Deadline deadline) {
    operand.settle(false, deadline);
    std::vector<std::byte> mine(static_cast<std::size_t>(cells.bytes));
    cells.clear(mine.data(), 1);
    if (contributes(operand.array)) cells.add(mine.data(), LocalLines(operand, {}, numbered).lines);
    return merged(cells, mine.data(), operand.array.comm(), deadline);
}

// The result along a dimension, in the remaining layout. Collective.
Array reduced_along(Operand operand, std::size_t dim, const Cells& cells, bool numbered,
                    Deadline deadline) {
    operand.settle(true, deadline);
    const Array& array = operand.array;
    const auto partials = partials_of(array.layout(), {dim}, array.process());
    const Array result = Array::empty(partials->target, cells.result, array.comm());
    const std::int64_t count = count_of(result);
    std::vector<std::byte> all(static_cast<std::size_t>(count * cells.bytes));
    cells.clear(all.data(), count);
    const auto fill = [&](std::byte* mine, std::size_t) {
        if (count_of(array) == 0) return true;
        const LocalLines local(operand, dim, numbered);
        cells.clear(mine, local.lines.results());
        cells.add(mine, local.lines);
        return true;
    };
    collect(*partials, cells.bytes, array.comm(), deadline, fill,
            [&](const std::byte* values) { cells.merge(all.data(), values, count); });
    if (count > 0) cells.finish(all.data(), count, result.data());
    return result;
}

// The elements, with zeros in place of those that the mask excludes. Collective.
Array masked(const Array& array, const std::optional<Array>& mask, Deadline deadline) {
    if (!mask) return array;
    const Array result = copied(array, array.layout(), deadline);
    const auto where = truths(to(*mask, result.layout(), deadline));
    const auto size = static_cast<std::size_t>(array.dtype().size);
    for (std::size_t k = 0; k < where.size(); ++k)
        if (where[k] == 0) std::memset(static_cast<std::byte*>(result.data()) + k * size, 0, size);
    return result;
}

}  // namespace

Array reduce(const Array& array, Combine op, const ComputeOptions& options) {
    const bool is_exact = op == Combine::sum && exact_type(array.dtype());
    Cells cells;
    agree(array.comm(), "reduce(" + said(array) + ", " + name_of(op) + said(options) + ")",
          options.deadline, [&] {
              require_dim(array, options);
              require_own_mask(array, options);
              if (!is_exact) cells = cells_of(op, array.dtype());
          });
    if (is_exact) {
        const Array terms = masked(array, options.mask, options.deadline);
        if (!options.dim) return exact_total(terms, {}, options.deadline);
        const std::vector<std::size_t> dims{dim_in_order(terms, options)};
        return out_of_order(exact_sum(in_order(terms, options), dims, options.deadline), options);
    }
    if (!options.dim) {
        const auto cell = reduced_all({array, options.mask}, cells, false, options.deadline);
        return everywhere(cells, cell.data(), array.comm());
    }
    Operand operand{in_order(array, options), {}};
    if (options.mask) operand.mask = in_order(*options.mask, options);
    return out_of_order(reduced_along(std::move(operand), dim_in_order(array, options), cells,
                                      false, options.deadline),
                        options);
}

Array locate(const Array& array, Combine op, const ComputeOptions& options) {
    Cells cells;
    agree(array.comm(),
          "locate(" + said(array) + ", " + name_of(op) + said_with_first(options) + ")",
          options.deadline, [&] {
              require_dim(array, options);
              require_own_mask(array, options);
              cells = locating_cells(op, array.dtype(), -1);
          });
    Operand operand{in_order(array, options), {}};
    if (options.mask) operand.mask = in_order(*options.mask, options);
    if (options.dim) {
        const Array result = reduced_along(std::move(operand), dim_in_order(array, options), cells,
                                           true, options.deadline);
        auto* const found = static_cast<std::int64_t*>(result.data());
        for (std::int64_t k = 0; k < count_of(result); ++k) found[k] += options.first_index;
        return out_of_order(result, options);
    }
    const Shape shape = operand.array.layout().shape();
    const auto cell = reduced_all(std::move(operand), cells, true, options.deadline);
    std::int64_t number = 0;
    cells.finish(cell.data(), 1, &number);
    const auto dimensions = static_cast<std::int64_t>(shape.size());
    const Array result =
        Array::empty(replicated({dimensions}, array.comm().size()), cells.result, array.comm());
    Shape index = number < 0 ? Shape(shape.size(), -1) : layout::unflatten(number, shape);
    if (options.order == Order::column_major) std::reverse(index.begin(), index.end());
    auto* const found = static_cast<std::int64_t*>(result.data());
    for (std::size_t d = 0; d < index.size(); ++d) found[d] = index[d] + options.first_index;
    return result;
}

Array dot_product(const Array& a, const Array& b, const ComputeOptions& options) {
    agree(a.comm(), "dot_product(" + said(a) + ", " + said(b) + ")", options.deadline, [&] {
        require_comm(a, b);
        require_shape(a, b, "the second operand");
        if (!(a.dtype() == b.dtype()))
            throw MismatchError("the operands of dot_product hold " + a.dtype().name + " and " +
                                b.dtype().name + "; make both of one type");
        if (a.dtype().name != "bool" && !exact_type(a.dtype()))
            static_cast<void>(fold_loops(Combine::sum, a.dtype()));
    });
    const Layout layout = cheapest({{a.layout(), a.dtype().size}, {b.layout(), b.dtype().size}});
    Array x = to(a, layout, options.deadline);
    if (exact_type(a.dtype())) return exact_total(x, b, options.deadline);
    if (!layout.form().gridded()) x = sole(x, options.deadline);
    const Array y = to(b, x.layout(), options.deadline);
    const Combine times = a.dtype().name == "bool" ? Combine::all : Combine::product;
    const Array product = Array::empty(x.layout(), a.dtype(), a.comm());
    const Dense first(x), second(y);
    if (first.count() > 0) {
        std::memcpy(product.data(), first.data(),
                    static_cast<std::size_t>(first.count() * a.dtype().size));
        fold_loops(times, a.dtype()).combine(product.data(), second.data(), first.count());
    }
    const Cells cells = cells_of(times == Combine::all ? Combine::any : Combine::sum, a.dtype());
    const auto cell = reduced_all({product, {}}, cells, false, options.deadline);
    return everywhere(cells, cell.data(), a.comm());
}

}  // namespace hocket

bool hocket::Binding::truth(const Array& array, bool any, const std::string& call) {
    const array::Dense elements(array);
    const auto truths = elements.as<std::uint8_t>();
    const bool mine = any ? kernel::any_true(truths.data(), elements.count())
                          : kernel::all_true(truths.data(), elements.count());
    if (array.comm().size() == 1) return mine;
    const auto found = array::allgather(array.comm(), call, &mine, 1, Deadline::in({}));
    const auto* const first = reinterpret_cast<const bool*>(found.get());
    const auto* const last = first + array.comm().size();
    return (std::find(first, last, any) != last) == any;
}
