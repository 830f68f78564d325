// SPDX-License-Identifier: BSD-3-Clause
// Operations that select elements or arrange them anew.
#include <algorithm>
#include <cstring>

#include "array/exchange.hpp"
#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "base/text.hpp"
#include "hocket/binding.hpp"
#include "hocket/kernel.hpp"

namespace hocket {

using namespace array;

Array merge(const Array& yes, const Array& no, const Array& mask, const ComputeOptions& options) {
    agree(yes.comm(), "merge(" + said(yes) + ", " + said(no) + ", " + said(mask) + ")",
          options.deadline, [&] {
              require_comm(yes, no);
              require_comm(yes, mask);
              require_shape(yes, no, "the second operand");
              require_shape(yes, mask, "the mask");
              require_truths(mask, "the mask");
              if (!(yes.dtype() == no.dtype()))
                  throw MismatchError("the operands of merge hold " + yes.dtype().name + " and " +
                                      no.dtype().name + "; make both of one type");
          });
    const Layout layout = cheapest({{yes.layout(), yes.dtype().size},
                                    {no.layout(), no.dtype().size},
                                    {mask.layout(), mask.dtype().size}});
    const Array result = copied(in_order(no, options), in_order(layout, options, yes.comm().size()),
                                options.deadline);
    const Array first = to(in_order(yes, options), result.layout(), options.deadline);
    const auto where = truths(to(in_order(mask, options), result.layout(), options.deadline));
    const Dense elements(first);
    const std::size_t size = static_cast<std::size_t>(yes.dtype().size);
    auto* const into = static_cast<std::byte*>(result.data());
    for (std::size_t k = 0; k < where.size(); ++k)
        if (where[k] != 0) std::memcpy(into + k * size, elements.data() + k * size, size);
    return out_of_order(result, options, layout);
}

Array spread(const Array& array, std::int64_t copies, const ComputeOptions& options) {
    const auto dimensions = static_cast<std::int64_t>(array.layout().dimensions());
    agree(array.comm(),
          "spread(" + said(array) + ", " + std::to_string(copies) + said(options) + ")",
          options.deadline, [&] {
              const std::int64_t dim = options.dim.value_or(0);
              if (dim < 0 || dim > dimensions)
                  throw LayoutError("there is no new dimension " +
                                    std::to_string(dim + options.first_index) + " of " +
                                    std::to_string(dimensions + 1) + "; give one from " +
                                    std::to_string(options.first_index) + " to " +
                                    std::to_string(dimensions + options.first_index));
              if (copies < 0)
                  throw LayoutError("spread to " + std::to_string(copies) +
                                    " copies; give 0 or more");
          });
    const Array source = on_grid(in_order(array, options), options.deadline);
    const std::int64_t at = options.dim.value_or(0);
    const auto dim =
        static_cast<std::size_t>(options.order == Order::column_major ? dimensions - at : at);
    const Array result =
        Array::empty(with(source.layout(), dim, copies), source.dtype(), source.comm());
    if (count_of(result) > 0) {
        const Dense elements(source);
        Shape strides = dense_strides(source.local_shape(), source.dtype().size);
        strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(dim), 0);
        kernel::Copy(result.local_shape(), source.dtype().size, strides, result.strides())
            .run(elements.data(), result.data());
    }
    return out_of_order(result, options);
}

Array transpose(const Array& array) {
    if (array.layout().dimensions() != 2)
        throw LayoutError("transpose of an array of " +
                          std::to_string(array.layout().dimensions()) +
                          " dimensions; give a matrix, or redistribute with axes");
    if (array.layout().is_indexed())
        throw LayoutError("transpose of listed elements; redistribute the matrix with axes");
    const Shape strides(array.strides().rbegin(), array.strides().rend());
    return Array::wrap(array.data(), mirrored(array.layout()), array.dtype(), array.comm(), strides,
                       array.keep(), array.writable());
}

namespace {

// The elements of a mask's array in order, one process after the other, and where they are chosen.
struct Selected {
    Layout runs;
    std::vector<std::uint8_t> where;
    std::vector<std::int64_t> counts;  // true ones, of each process
    std::int64_t total = 0;
};

// `layout`: of the array, which stays there if its parts are in order.
Selected selected(const Array& mask, const Layout& layout, Deadline deadline) {
    const Layout runs =
        is_in_rank_order(layout) ? layout : flat(layout.shape(), mask.comm().size());
    Selected found{runs, truths(to(mask, runs, deadline)), {}, 0};
    const auto count = std::count_if(found.where.begin(), found.where.end(),
                                     [](std::uint8_t each) { return each != 0; });
    found.counts = allgather(mask.comm(), std::int64_t{count}, deadline);
    for (const std::int64_t each : found.counts) found.total += each;
    return found;
}

std::int64_t own_count(const Selected& chosen, const Comm& comm) {
    return chosen.counts[static_cast<std::size_t>(comm.rank())];
}

// An array of the chosen elements on their processes, without values.
Array of_chosen(const Selected& chosen, const DType& dtype, const Comm& comm) {
    // Room for a further one: the loop below writes before it knows whether an element is chosen.
    return Array::empty(parts(chosen.counts), dtype, comm,
                        (own_count(chosen, comm) + 1) * dtype.size);
}

// Copies the chosen elements, of which there are `count`, one after the other.
void gather_chosen(const std::vector<std::uint8_t>& where, const std::byte* from, std::byte* into,
                   std::int64_t bytes) {
    with_size(bytes, [&](auto each) {
        constexpr bool is_short = !std::is_same_v<decltype(each), std::size_t>;
        for (std::size_t k = 0; k < where.size(); ++k) {
            if (std::uint64_t some = 0; k % 8 == 0 && k + 8 <= where.size()) {
                std::memcpy(&some, where.data() + k, sizeof some);
                if (some == 0) {  // none of these is chosen
                    k += 7;
                    continue;
                }
            }
            if (is_short || where[k] != 0) std::memcpy(into, from + k * each, each);
            into += where[k] * each;
        }
    });
}

void require_vector(const Array& array, const Array& vector) {
    require_comm(array, vector);
    if (vector.layout().dimensions() != 1)
        throw LayoutError("the vector has shape " + text::tuple(vector.layout().shape()) +
                          "; give one dimension");
    if (!(vector.dtype() == array.dtype()))
        throw MismatchError("the vector holds " + vector.dtype().name + ", but the array " +
                            array.dtype().name + "; make both of one type");
}

void require_length(const Array& vector, std::int64_t total) {
    if (vector.layout().shape()[0] < total)
        throw LayoutError("the mask is true at " + std::to_string(total) +
                          " elements, but the vector has " +
                          std::to_string(vector.layout().shape()[0]) + "; give a longer one");
}

// Writes the vector's elements to those at which the mask is true, in order. `exactly`: there are
// as many. Collective.
void put(const Array& array, const Array& mask, const Array& vector, bool exactly,
         Deadline deadline) {
    const Comm& comm = array.comm();
    const Selected chosen = selected(mask, array.layout(), deadline);
    agree(comm, "unpack", deadline, [&] {
        if (!exactly) return require_length(vector, chosen.total);
        if (vector.layout().shape()[0] != chosen.total)
            throw LayoutError("the mask chooses " + std::to_string(chosen.total) +
                              " elements, and the value has shape " +
                              text::tuple(vector.layout().shape()));
    });
    if (chosen.total == 0) return;
    const Array mine = Array::empty(parts(chosen.counts), array.dtype(), comm);
    copy(slab(on_grid(vector, deadline), 0, 0, chosen.total), mine, deadline);
    const Array in_runs = to(array, chosen.runs, deadline);
    const LocalElements elements(in_runs);
    const auto* from = static_cast<const std::byte*>(mine.data());
    with_size(array.dtype().size, [&](auto each) {
        for (std::size_t k = 0; k < chosen.where.size(); ++k) {
            if (chosen.where[k] == 0) continue;
            std::memcpy(elements.at(static_cast<std::int64_t>(k)), from, each);
            from += each;
        }
    });
    if (in_runs.layout() != array.layout()) copy(in_runs, array, deadline);
}

}  // namespace

Array pack(const Array& array, const Array& mask, const ComputeOptions& options,
           const std::optional<Array>& vector) {
    const Deadline deadline = options.deadline;
    const Comm& comm = array.comm();
    agree(comm,
          "pack(" + said(array) + ", " + said(mask) + (vector ? ", " + said(*vector) : "") +
              said(options) + ")",
          deadline, [&] {
              require_comm(array, mask);
              require_truths(mask, "the mask");
              require_shape(array, mask, "the mask");
              if (vector) require_vector(array, *vector);
          });
    const Array source = in_order(array, options);
    const Selected chosen = selected(in_order(mask, options), source.layout(), deadline);
    if (vector) agree(comm, "pack", deadline, [&] { require_length(*vector, chosen.total); });

    const Dense elements(to(source, chosen.runs, deadline));
    const Array mine = of_chosen(chosen, array.dtype(), comm);
    gather_chosen(chosen.where, elements.data(), static_cast<std::byte*>(mine.data()),
                  array.dtype().size);
    if (!vector) return copied(mine, balanced({chosen.total}, comm.size()), deadline);
    const Array result = copied(*vector, balanced(vector->layout().shape(), comm.size()), deadline);
    if (chosen.total > 0) copy(mine, slab(result, 0, 0, chosen.total), deadline);
    return result;
}

Array unpack(const Array& vector, const Array& mask, const Array& field,
             const ComputeOptions& options) {
    const Deadline deadline = options.deadline;
    const Comm& comm = mask.comm();
    const bool one = field.layout().dimensions() == 0;
    agree(comm,
          "unpack(" + said(vector) + ", " + said(mask) + ", " + said(field) + said(options) + ")",
          deadline, [&] {
              require_truths(mask, "the mask");
              require_comm(mask, field);
              require_vector(field, vector);
              require_comm(mask, vector);
              if (!one) require_shape(mask, field, "the field");
          });
    const Array pattern = in_order(mask, options);
    const Array result = Array::empty(pattern.layout(), field.dtype(), comm);
    if (one) {
        const Dense value(to(field, replicated({}, comm.size()), deadline));
        auto* const into = static_cast<std::byte*>(result.data());
        const auto size = static_cast<std::size_t>(field.dtype().size);
        for (std::size_t k = 0; k < static_cast<std::size_t>(count_of(result)); ++k)
            std::memcpy(into + k * size, value.data(), size);
    } else {
        copy(in_order(field, options), result, deadline);
    }
    put(result, pattern, vector, false, deadline);
    return out_of_order(result, options, mask.layout());
}

Array Binding::true_numbers(const Array& mask) {
    const Comm& comm = mask.comm();
    const Deadline deadline = Deadline::in({});
    const Selected chosen = selected(mask, mask.layout(), deadline);
    const Array mine = of_chosen(chosen, dtype_of<std::int64_t>(), comm);
    std::int64_t number = 0;
    for (int rank = 0; rank < std::min<std::int64_t>(comm.rank(), chosen.runs.size()); ++rank)
        number += chosen.runs.local_elements(rank);
    auto* into = static_cast<std::int64_t*>(mine.data());
    for (const std::uint8_t each : chosen.where) {
        *into = number++;
        into += each;
    }
    return copied(mine, balanced({chosen.total}, comm.size()), deadline);
}

void Binding::put(const Array& array, const Array& mask, const Array& vector) {
    hocket::put(array, mask, vector, true, Deadline::in({}));
}

}  // namespace hocket
