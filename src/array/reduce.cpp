// SPDX-License-Identifier: BSD-3-Clause
// Reductions: each process reduces its part, and then processes combine partial results. Along a
// distributed dimension, the partial results of one part form an aligned array: the elements that
// HPF's A(j) WITH T(i, j) gives to the holders of index i. They move to the processes of the
// result, one part after the other.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "array/cells.hpp"
#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "hocket/memory.hpp"
#include "layout/form.hpp"

namespace hocket {
namespace {

using namespace array;

// The most bytes of cells on a process at a time, if HOCKET_MAX_BUFFER is not less.
constexpr std::int64_t most_cells = std::int64_t{32} << 20;

// Whether this process contributes its elements: the lowest of those with copies does.
bool speaks(const Array& array) {
    if (count_of(array) == 0) return false;
    const Layout& layout = array.layout();
    if (without_copies(layout)) return true;
    Shape first;
    for (const auto& along : layout.global_indices(array.process())) first.push_back(along[0]);
    return layout.owner(first) == array.process();
}

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
    std::optional<Array> factors, mask;

    // Brings all to the layout of the first, which has no listed elements or boxes if `grid`.
    void settle(bool grid, Deadline deadline) {
        if (grid)
            array = on_grid(array, deadline);
        else if (!array.layout().form().gridded())
            array = sole(array, deadline);
        if (factors) factors = to(*factors, array.layout(), deadline);
        if (mask) mask = to(*mask, array.layout(), deadline);
    }
};

// Local elements as lines along the reduced dimension (or as one line).
class LocalLines {
  public:
    LocalLines(const Operand& operand, std::optional<std::size_t> dim, bool numbered)
        : elements_(operand.array) {
        lines.elements = elements_.data();
        if (operand.factors) {
            factors_.emplace(*operand.factors);
            lines.factors = factors_->data();
        }
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
    std::optional<Dense> factors_;
    std::vector<std::uint8_t> mask_;
    std::vector<std::int64_t> numbers_;
};

std::vector<std::byte> reduced_all(Operand operand, const Cells& cells, bool numbered,
                                   Deadline deadline) {
    operand.settle(false, deadline);
    std::vector<std::byte> mine(static_cast<std::size_t>(cells.bytes));
    cells.clear(mine.data(), 1);
    if (speaks(operand.array)) cells.add(mine.data(), LocalLines(operand, {}, numbered).lines);
    return merged(cells, mine.data(), operand.array.comm(), deadline);
}

// The result along a dimension, in the remaining layout. Collective.
Array reduced_along(Operand operand, std::size_t dim, const Cells& cells, bool numbered,
                    Deadline deadline) {
    operand.settle(true, deadline);
    const Array& array = operand.array;
    const Layout& layout = array.layout();
    const Layout target = without(layout, dim);
    const Array result = Array::empty(target, cells.result, array.comm());
    const std::int64_t count = count_of(result);
    const std::vector<std::int64_t> indices = parts_along(layout, dim);

    std::int64_t most = 0;  // cells of a process
    for (std::int64_t r = 0; r < target.size(); ++r)
        most = std::max(most, target.local_elements(r));
    const Shape& shape = target.shape();
    const std::int64_t tile = within_buffers(most_cells);
    if (most * cells.bytes > tile && cells.bytes > cells.result.size) {
        const auto widest =
            static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
        if (shape[widest] > 1) {
            const std::int64_t tiles = std::min(shape[widest], most * cells.bytes / tile + 1);
            const std::int64_t step = (shape[widest] + tiles - 1) / tiles;
            const std::size_t own = widest < dim ? widest : widest + 1;
            for (std::int64_t first = 0; first < shape[widest]; first += step) {
                const std::int64_t last = std::min(first + step, shape[widest]);
                Operand part{slab(array, own, first, last), {}, {}};
                if (operand.factors) part.factors = slab(*operand.factors, own, first, last);
                if (operand.mask) part.mask = slab(*operand.mask, own, first, last);
                assign(slab(result, widest, first, last),
                       reduced_along(part, dim, cells, numbered, deadline), deadline);
            }
            return result;
        }
    }

    const auto room = allocate(count * cells.bytes);
    cells.clear(room.get(), count);
    const DType record{"cells", cells.bytes};
    for (const std::int64_t index : indices) {
        const Layout part = without(layout, dim, index);
        const bool alone = indices.size() == 1 && part == target;
        const Array partial = Array::empty(part, record, array.comm());
        if (count_of(partial) > 0) {
            auto* const own = static_cast<std::byte*>(partial.data());
            cells.clear(own, count_of(partial));
            cells.add(own, LocalLines(operand, dim, numbered).lines);
        }
        const Array moved = alone ? partial : copied(partial, target, deadline);
        if (count > 0) cells.merge(room.get(), static_cast<const std::byte*>(moved.data()), count);
    }
    if (count > 0) cells.finish(room.get(), count, result.data());
    return result;
}

}  // namespace

Array reduce(const Array& array, Combine op, const ComputeOptions& options) {
    Cells cells;
    agree(array.comm(), "reduce(" + said(array) + ", " + name_of(op) + said(options) + ")",
          options.deadline, [&] {
              require_dim(array, options);
              require_own_mask(array, options);
              cells = cells_of(op, array.dtype());
          });
    if (!options.dim) {
        const auto cell = reduced_all({array, {}, options.mask}, cells, false, options.deadline);
        return everywhere(cells, cell.data(), array.comm());
    }
    Operand operand{in_order(array, options), {}, {}};
    if (options.mask) operand.mask = in_order(*options.mask, options);
    return out_of_order(reduced_along(std::move(operand), dim_in_order(array, options), cells,
                                      false, options.deadline),
                        options);
}

Array locate(const Array& array, Combine op, const ComputeOptions& options) {
    Cells cells;
    agree(array.comm(), "locate(" + said(array) + ", " + name_of(op) + said(options) + ")",
          options.deadline, [&] {
              require_dim(array, options);
              require_own_mask(array, options);
              cells = locating_cells(op, array.dtype(), -1);
          });
    Operand operand{in_order(array, options), {}, {}};
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
    Operand operand{to(a, layout, options.deadline), b, {}};
    if (exact_type(a.dtype())) {
        const Cells cells = product_cells(a.dtype());
        const auto cell = reduced_all(std::move(operand), cells, false, options.deadline);
        return everywhere(cells, cell.data(), a.comm());
    }
    operand.settle(false, options.deadline);
    const Combine times = a.dtype().name == "bool" ? Combine::all : Combine::product;
    const Array product = Array::empty(operand.array.layout(), a.dtype(), a.comm());
    const Dense x(operand.array), y(*operand.factors);
    if (x.count() > 0) {
        std::memcpy(product.data(), x.data(), static_cast<std::size_t>(x.count() * a.dtype().size));
        fold_loops(times, a.dtype()).combine(product.data(), y.data(), x.count());
    }
    const Cells cells = cells_of(times == Combine::all ? Combine::any : Combine::sum, a.dtype());
    const auto cell = reduced_all({product, {}, {}}, cells, false, options.deadline);
    return everywhere(cells, cell.data(), a.comm());
}

}  // namespace hocket
