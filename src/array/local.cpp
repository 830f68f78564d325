// SPDX-License-Identifier: BSD-3-Clause
#include "array/local.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "array/layouts.hpp"
#include "array/numbers.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "hocket/binding.hpp"
#include "hocket/memory.hpp"
#include "hocket/transfer.hpp"
#include "kernel/box.hpp"
#include "layout/form.hpp"
#include "transport/buffers.hpp"

namespace hocket::array {
namespace {

Array reversed(const Array& array, const Layout& layout) {
    const Shape strides(array.strides().rbegin(), array.strides().rend());
    return Array::wrap(array.data(), layout, array.dtype(), array.comm(), strides,
                       array.keep() ? array.keep() : nullptr, array.writable());
}

bool mirrors(const Layout& layout, const ComputeOptions& options) {
    return options.order == Order::column_major && layout.dimensions() > 1;
}
bool mirrors(const Array& array, const ComputeOptions& options) {
    return mirrors(array.layout(), options);
}

// "1st" for number 0: C and Fortran count dimensions from different numbers, but must say the same.
std::string ordinal(std::int64_t from_zero) {
    const std::int64_t n = base::sum(from_zero, 1).value_or(from_zero);
    const char* const endings[] = {"th", "st", "nd", "rd"};
    const bool regular = n < 0 || n % 10 > 3 || n % 100 / 10 == 1;
    return std::to_string(n) + endings[regular ? 0 : n % 10];
}

}  // namespace

std::string said(const Array& array) {
    return array.dtype().name + " " + layout::label(array.layout().form());
}

std::string said(const ComputeOptions& options) {
    std::string text;
    if (options.dim) text += ", along the " + ordinal(*options.dim) + " dimension";
    if (options.mask) text += ", mask=" + said(*options.mask);
    if (options.segment) text += ", segment=" + said(*options.segment);
    if (options.shifts) text += ", shifts=" + said(*options.shifts);
    if (options.exclusive) text += ", exclusive";
    if (options.suffix) text += ", suffix";
    if (options.descending) text += ", descending";
    if (options.order == Order::column_major) text += ", column-major";
    return text;
}

std::string said_with_first(const ComputeOptions& options) {
    return said(options) +
           (options.first_index == 0 ? "" : ", first_index=" + std::to_string(options.first_index));
}

void require_comm(const Array& array, const Array& other) {
    if (!(array.comm() == other.comm()))
        throw Error("the arrays are over different communicators, of " +
                    std::to_string(array.comm().size()) + " and " +
                    std::to_string(other.comm().size()) +
                    " processes; make them over the same one");
}

void require_shape(const Array& array, const Array& other, const char* noun) {
    if (array.layout().shape() != other.layout().shape())
        throw LayoutError(std::string(noun) + " has shape " + text::tuple(other.layout().shape()) +
                          ", but the array " + text::tuple(array.layout().shape()) +
                          "; give one of the same shape");
}

void require_truths(const Array& mask, const char* noun) {
    if (!is_truth(mask.dtype()))
        throw MismatchError(std::string(noun) + " holds " + mask.dtype().name +
                            "; give bool or integers");
}

void require_integers(const Array& array, const char* noun) {
    if (!with_integer(array.dtype(), [](auto) {}))
        throw MismatchError(std::string(noun) + " holds " + array.dtype().name + "; give integers");
}

void require_dim(const Array& array, const ComputeOptions& options) {
    const auto dimensions = static_cast<std::int64_t>(array.layout().dimensions());
    if (options.dim && (*options.dim < 0 || *options.dim >= dimensions))
        throw LayoutError("there is no dimension " +
                          std::to_string(*options.dim + options.first_index) +
                          " in an array of shape " + text::tuple(array.layout().shape()) +
                          "; give one from " + std::to_string(options.first_index) + " to " +
                          std::to_string(dimensions - 1 + options.first_index));
}

void require_own_mask(const Array& array, const ComputeOptions& options) {
    if (!options.mask) return;
    require_comm(array, *options.mask);
    require_truths(*options.mask, "the mask");
    require_shape(array, *options.mask, "the mask");
}

Array in_order(const Array& array, const ComputeOptions& options) {
    if (!mirrors(array, options)) return array;
    const Array grid = array.layout().is_indexed() ? on_grid(array, options.deadline) : array;
    return reversed(grid, mirrored(grid.layout()));
}

Layout in_order(const Layout& layout, const ComputeOptions& options, std::int64_t size) {
    if (!mirrors(layout, options)) return layout;
    return mirrored(layout.is_indexed() ? balanced(layout.shape(), size) : layout);
}

Array out_of_order(const Array& result, const ComputeOptions& options) {
    if (!mirrors(result, options)) return result;
    return reversed(result, mirrored(result.layout()));
}

Array out_of_order(const Array& result, const ComputeOptions& options, const Layout& layout) {
    if (layout.is_indexed() || !mirrors(result, options)) {
        if (result.layout() == layout)
            return over(result.data(), layout, result.dtype(), result.comm(), result.keep());
        if (!mirrors(result, options)) return to(result, layout, options.deadline);
        return to(reversed(result, mirrored(result.layout())), layout, options.deadline);
    }
    const Layout back = mirrored(result.layout());
    if (back == layout) return reversed(result, layout);
    const Array moved = to(result, mirrored(layout), options.deadline);
    return reversed(moved, layout);
}

std::size_t dim_in_order(const Array& array, const ComputeOptions& options, std::int64_t dim) {
    const auto at = static_cast<std::size_t>(options.dim.value_or(dim));
    return options.order == Order::column_major ? array.layout().dimensions() - 1 - at : at;
}

Array to(const Array& array, const Layout& layout, Deadline deadline) {
    return array.layout() == layout ? array : copied(array, layout, deadline);
}

Array on_grid(const Array& array, Deadline deadline) {
    if (array.layout().form().gridded()) return array;
    return copied(array, balanced(array.layout().shape(), array.comm().size()), deadline);
}

Array sole(const Array& array, Deadline deadline) {
    if (without_copies(array.layout())) return array;
    return copied(array, balanced(array.layout().shape(), array.comm().size()), deadline);
}

Array copied(const Array& array, const Layout& layout, Deadline deadline) {
    const Array result = Array::empty(layout, array.dtype(), array.comm());
    copy(array, result, deadline);
    return result;
}

void copy(const Array& source, const Array& destination, Deadline deadline) {
    RedistributeOptions options;
    options.deadline = deadline;
    redistribute(source, destination, options);
}

Dense::Dense(const Array& array)
    : data_(static_cast<const std::byte*>(array.data())), count_(count_of(array)) {
    if (count_ == 0 || kernel::is_dense(array.local_shape(), array.dtype().size, array.strides()))
        return;
    copy_ = allocate(count_ * array.dtype().size);
    data_ = copy_.get();
    kernel::Copy(array.local_shape(), array.dtype().size, array.strides(),
                 dense_strides(array.local_shape(), array.dtype().size))
        .run(array.data(), copy_.get());
}

LocalElements::LocalElements(const Array& array)
    : array_(array),
      dense_(kernel::is_dense(array.local_shape(), array.dtype().size, array.strides())) {}

std::byte* LocalElements::at(std::int64_t number) const {
    std::int64_t bytes = number * array_.dtype().size;
    if (!dense_) {
        bytes = 0;
        for (std::size_t d = array_.local_shape().size(); d-- > 0;) {
            const std::int64_t extent = array_.local_shape()[d];
            bytes += number % extent * array_.strides()[d];
            number /= extent;
        }
    }
    return static_cast<std::byte*>(array_.data()) + bytes;
}

std::int64_t count_of(const Array& array) {
    return array.process() < 0 ? 0 : array.layout().local_elements(array.process());
}

bool contributes(const Array& array) {
    if (count_of(array) == 0) return false;
    const Layout& layout = array.layout();
    if (without_copies(layout)) return true;
    Shape first;
    for (const auto& along : layout.global_indices(array.process())) first.push_back(along[0]);
    return layout.owner(first) == array.process();
}

std::vector<std::uint8_t> truths(const Array& mask) {
    const Dense dense(mask);
    std::vector<std::uint8_t> found(static_cast<std::size_t>(dense.count()));
    with_truth(mask.dtype(), [&](auto zero) {
        using T = decltype(zero);
        const T* from = reinterpret_cast<const T*>(dense.data());
        for (std::size_t k = 0; k < found.size(); ++k) found[k] = from[k] != T{0};
    });
    return found;
}

std::vector<std::int64_t> integers(const Array& array, std::int64_t first) {
    const Dense dense(array);
    std::vector<std::int64_t> found(static_cast<std::size_t>(dense.count()));
    with_integer(array.dtype(), [&](auto zero) {
        using T = decltype(zero);
        const auto* const from = reinterpret_cast<const T*>(dense.data());
        for (std::size_t k = 0; k < found.size(); ++k)
            found[k] = static_cast<std::int64_t>(from[k]) - first;
    });
    return found;
}

std::vector<std::int64_t> numbers(const Array& array) {
    return numbers(array.layout(), array.process());
}

std::vector<std::int64_t> numbers(const Layout& layout, std::int64_t process) {
    if (process < 0 || process >= layout.size() || layout.local_elements(process) == 0) return {};
    const auto along = layout.global_indices(process);
    if (layout.is_indexed()) return along[0];
    std::vector<std::int64_t> found{0};
    for (std::size_t d = 0; d < along.size(); ++d) {
        std::vector<std::int64_t> next;
        next.reserve(found.size() * along[d].size());
        for (const std::int64_t before : found)
            for (const std::int64_t k : along[d]) next.push_back(before * layout.shape()[d] + k);
        found = std::move(next);
    }
    return found;
}

Array over(const void* data, const Layout& layout, const DType& dtype, const Comm& comm,
           std::shared_ptr<const void> keep) {
    return Array::wrap(const_cast<void*>(data), layout, dtype, comm, {}, std::move(keep));
}

Array slab(const Array& array, std::size_t dim, std::int64_t first, std::int64_t last) {
    std::vector<Slice> slices;
    for (const std::int64_t extent : array.layout().shape()) slices.push_back({0, extent});
    slices[dim] = {first, last - first};
    return array.section(slices);
}

DType record_of(std::int64_t bytes) {
    return {"V" + std::to_string(bytes), bytes};
}

std::int64_t within_buffers(std::int64_t bytes) {
    return std::min(bytes, transport::default_buffers());
}

}  // namespace hocket::array

std::int64_t hocket::Binding::within_buffers(std::int64_t bytes) {
    return array::within_buffers(bytes);
}
