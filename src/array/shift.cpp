// SPDX-License-Identifier: BSD-3-Clause
// Assignment between sections, and shifts, which are two assignments.
#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <cstring>
#include <memory>

#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "base/text.hpp"
#include "hocket/kernel.hpp"
#include "hocket/transfer.hpp"
#include "transfer/check.hpp"

namespace hocket {
namespace {

using namespace array;

__extension__ using Wide = __int128;  // sums of two shifts do not overflow

std::byte* address_of(const Array& array, std::size_t dim, std::int64_t index) {
    return static_cast<std::byte*>(array.data()) + index * array.strides()[dim];
}

Shape slab_shape(const Array& array, std::size_t dim, std::int64_t count) {
    Shape shape = array.local_shape();
    shape[dim] = count;
    return shape;
}

// Copies `count` indices along a dimension, of `from` from `first` on, to `into` from `at` on.
// Returns the move to wait for, if elements change their process.
std::shared_ptr<Operation> move_slab(const Array& from, std::int64_t first, const Array& into,
                                     std::int64_t at, std::int64_t count, std::size_t dim) {
    if (count <= 0 || from.layout().num_elements() == 0) return nullptr;
    if (!is_local(from.layout(), dim))
        return iredistribute(slab(from, dim, first, first + count), slab(into, dim, at, at + count),
                             {});
    if (count_of(from) > 0)
        kernel::Copy(slab_shape(from, dim, count), from.dtype().size, from.strides(),
                     into.strides())
            .run(address_of(from, dim, first), address_of(into, dim, at));
    return nullptr;
}

// Sets this process's elements of `count` indices along a dimension, from `first` on.
void fill_slab(const Array& into, std::size_t dim, std::int64_t first, std::int64_t count,
               const void* boundary) {
    if (count_of(into) == 0) return;
    const auto own = into.layout().global_indices(into.process())[dim];
    const auto begin = std::lower_bound(own.begin(), own.end(), first);
    const auto end = std::lower_bound(begin, own.end(), first + count);
    if (begin == end) return;
    const std::int64_t size = into.dtype().size;
    const std::vector<std::byte> zero(static_cast<std::size_t>(size));
    const Shape shape = slab_shape(into, dim, end - begin);
    kernel::Copy(shape, size, Shape(shape.size(), 0), into.strides())
        .run(boundary == nullptr ? zero.data() : boundary,
             address_of(into, dim, begin - own.begin()));
}

Array shifted(const Array& array, std::int64_t shift, bool around, const void* boundary,
              const ComputeOptions& options) {
    const Array source = on_grid(in_order(array, options), options.deadline);
    const std::size_t dim = dim_in_order(array, options);
    const std::int64_t extent = source.layout().shape()[dim];
    const Array result = Array::empty(source.layout(), source.dtype(), source.comm());
    if (around && extent > 0) shift = (shift % extent + extent) % extent;
    shift = std::clamp(shift, -extent, extent);
    const std::int64_t kept = extent - std::abs(shift);
    const std::int64_t from = std::max<std::int64_t>(shift, 0);
    const std::int64_t at = std::max<std::int64_t>(-shift, 0);
    const auto inner = move_slab(source, from, result, at, kept, dim);
    const auto outer = around ? move_slab(source, 0, result, kept, extent - kept, dim) : nullptr;
    if (!around) fill_slab(result, dim, shift < 0 ? 0 : kept, extent - kept, boundary);
    for (const auto& move : {inner, outer})
        if (move) wait(*move, options.deadline);
    return out_of_order(result, options, array.layout());
}

// The layout of an array whose lines along `dim` are whole.
Layout with_lines(const Layout& layout, std::size_t dim, std::int64_t size) {
    if (is_local(layout, dim)) return layout;
    const Shape& shape = layout.shape();
    std::size_t longest = dim == 0 ? 1 : 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (d != dim && shape[d] > shape[longest]) longest = d;
    return balanced(shape, size, static_cast<std::int64_t>(longest));
}

// Each line by a number of its own, on the process that holds the line.
Array shifted_by_line(const Array& array, std::int64_t shift, bool around, const void* boundary,
                      const ComputeOptions& options) {
    const std::size_t dim = dim_in_order(array, options);
    const Array whole = on_grid(in_order(array, options), options.deadline);
    const Layout layout = with_lines(whole.layout(), dim, array.comm().size());
    const Array source = to(whole, layout, options.deadline);
    const std::vector<std::int64_t> shifts = integers(to(
        in_order(*options.shifts, options), without(layout, std::vector{dim}), options.deadline));
    const Array result = Array::empty(layout, source.dtype(), source.comm());
    if (count_of(result) > 0) {
        const Dense dense(source);
        const Shape& local = result.local_shape();
        const auto size = static_cast<std::size_t>(array.dtype().size);
        const std::int64_t extent = local[dim];
        const std::int64_t inner =
            elements_of({local.begin() + static_cast<std::ptrdiff_t>(dim) + 1, local.end()});
        auto* const into = static_cast<std::byte*>(result.data());
        for (std::int64_t k = 0; k < count_of(result); ++k) {
            const std::int64_t line = k / inner / extent * inner + k % inner;
            const std::int64_t at = k / inner % extent;
            Wide from = at + static_cast<Wide>(shift) + shifts[static_cast<std::size_t>(line)];
            if (around) from = (from % extent + extent) % extent;
            std::byte* const element = into + static_cast<std::size_t>(k) * size;
            if (from >= 0 && from < extent)
                std::memcpy(element,
                            dense.data() + static_cast<std::size_t>(
                                               k + (static_cast<std::int64_t>(from) - at) * inner) *
                                               size,
                            size);
            else if (boundary == nullptr)
                std::memset(element, 0, size);
            else
                std::memcpy(element, boundary, size);
        }
    }
    return out_of_order(to(result, whole.layout(), options.deadline), options, array.layout());
}

void require_shifts(const Array& array, const ComputeOptions& options) {
    if (!options.shifts) return;
    require_comm(array, *options.shifts);
    require_integers(*options.shifts, "shifts");
    Shape rest = array.layout().shape();
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(options.dim.value_or(0)));
    if (rest.empty())
        throw LayoutError(
            "the array has one dimension, so its only line has one shift; give "
            "'shift' without 'shifts'");
    if (options.shifts->layout().shape() != rest)
        throw LayoutError("shifts has shape " + text::tuple(options.shifts->layout().shape()) +
                          ", but the lines have " + text::tuple(rest) + "; give one number a line");
}

void append(std::string& text, auto number) {
    if (is_nan(number)) {  // of any sign
        text += "nan";
        return;
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text.append(digits.data(), end);
}
template <class T>
void append(std::string& text, std::complex<T> number) {
    append(text, number.real());
    append(text += " + i ", number.imag());
}

// A number by its value; NULL is 0. Of other types nothing, because equal elements may have
// different bytes as padding.
std::string text_of_boundary(const void* element, const DType& dtype) {
    std::string text;
    const auto say = [&](auto number) {
        if (element != nullptr) std::memcpy(&number, element, sizeof number);
        append(text = ", boundary=", number);
    };
    if (!with_number(dtype, say)) with_truth(dtype, say);
    return text;
}

Array shift_along(const char* name, const Array& array, std::int64_t shift, bool around,
                  const void* boundary, const ComputeOptions& options) {
    agree(array.comm(),
          std::string(name) + "(" + said(array) + ", " + std::to_string(shift) +
              (around ? "" : text_of_boundary(boundary, array.dtype())) + said(options) + ")",
          options.deadline, [&] {
              if (array.layout().dimensions() == 0)
                  throw LayoutError(std::string(name) +
                                    " of an array of shape (); give one with a "
                                    "dimension");
              require_dim(array, options);
              require_shifts(array, options);
          });
    if (options.shifts) return shifted_by_line(array, shift, around, boundary, options);
    return shifted(array, shift, around, boundary, options);
}

}  // namespace

Array cshift(const Array& array, std::int64_t shift, const ComputeOptions& options) {
    return shift_along("cshift", array, shift, true, nullptr, options);
}

Array eoshift(const Array& array, std::int64_t shift, const void* boundary,
              const ComputeOptions& options) {
    return shift_along("eoshift", array, shift, false, boundary, options);
}

void assign(const Array& destination, const Array& source, Deadline deadline) {
    bool overlap = false;
    agree(destination.comm(), "assign(" + said(destination) + ", " + said(source) + ")", deadline,
          [&] {
              require_comm(destination, source);
              require_shape(destination, source, "the source");
              if (!(destination.dtype() == source.dtype()))
                  throw MismatchError("the source holds " + source.dtype().name +
                                      ", but the destination " + destination.dtype().name +
                                      "; make both of one type");
              if (const auto fault = transfer::fault_in_writing(destination)) fault.raise();
              const std::vector<Array> both{destination, source};
              overlap = transfer::sharing_memory(both).has_value();
          });
    // A process whose parts overlap reads first; the others need not know.
    if (overlap) {
        const Array own = Array::empty(source.layout(), source.dtype(), source.comm());
        const Dense elements(source);
        std::memcpy(own.data(), elements.data(),
                    static_cast<std::size_t>(elements.count() * source.dtype().size));
        copy(own, destination, deadline);
    } else {
        copy(source, destination, deadline);
    }
}

std::vector<std::int64_t> global_indices(const Array& array, std::int64_t dimension) {
    const Layout& layout = array.layout();
    if (dimension < 0 || dimension >= static_cast<std::int64_t>(layout.dimensions()))
        throw LayoutError("an array of shape " + text::tuple(layout.shape()) + " has " +
                          std::to_string(layout.dimensions()) +
                          " dimensions, and 'dimension' is none of them");
    if (array.process() < 0) return {};
    auto along = layout.global_indices(array.process());
    const auto d = static_cast<std::size_t>(dimension);
    if (!layout.is_indexed()) return std::move(along[d]);
    std::int64_t step = 1;
    for (std::size_t e = d + 1; e < layout.dimensions(); ++e) step *= layout.shape()[e];
    for (std::int64_t& number : along[0]) number = number / step % layout.shape()[d];
    return std::move(along[0]);
}

}  // namespace hocket
