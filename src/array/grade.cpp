// SPDX-License-Identifier: BSD-3-Clause
// The order of elements: local for whole lines, else each process sorts a share (`divide`), with
// the element's number as the last key.
#include <algorithm>
#include <numeric>

#include "array/divide.hpp"
#include "array/exchange.hpp"
#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "layout/form.hpp"

namespace hocket {
namespace {

using namespace array;

template <class T>
bool comes_before(T a, T b, bool descending) {
    if (is_nan(a) || is_nan(b)) return !is_nan(a);  // NaN comes last
    return descending ? b < a : a < b;
}

template <class T>
struct Keyed {
    std::int64_t line, index;
    T value;
};

template <class T>
struct InOrder {
    bool descending;
    bool operator()(const Keyed<T>& a, const Keyed<T>& b) const {
        if (a.line != b.line) return a.line < b.line;
        if (comes_before(a.value, b.value, descending)) return true;
        if (comes_before(b.value, a.value, descending)) return false;
        return a.index < b.index;
    }
};

// Lines that are whole on each process.
template <class T>
Array grade_local(const Array& array, std::size_t dim, const ComputeOptions& options) {
    const Array result = Array::empty(array.layout(), dtype_of<std::int64_t>(), array.comm());
    if (count_of(array) == 0) return result;
    const Dense elements(array);
    const Shape& shape = array.local_shape();
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(dim);
    const std::int64_t outer = elements_of({shape.begin(), at}), length = *at;
    const std::int64_t inner = elements_of({at + 1, shape.end()});
    std::vector<std::int64_t> order(static_cast<std::size_t>(length));
    auto* const into = static_cast<std::int64_t*>(result.data());
    for (std::int64_t k = 0; k < outer * inner; ++k) {
        const std::int64_t first = k / inner * length * inner + k % inner;
        const T* const line = elements.as<T>().data() + first;
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            return comes_before(line[a * inner], line[b * inner], options.descending);
        });
        for (std::int64_t each = 0; each < length; ++each)
            into[first + each * inner] =
                order[static_cast<std::size_t>(each)] + options.first_index;
    }
    return result;
}

// Sorts all processes' elements: each process gets an even share, one after the other.
template <class T>
Records sort_everywhere(const Comm& comm, std::vector<Keyed<T>> mine, bool descending,
                        Deadline deadline) {
    using Key = Keyed<T>;
    const InOrder<T> before{descending};
    std::sort(mine.begin(), mine.end(), before);
    const std::int64_t size = comm.size();
    const auto counts = allgather(comm, static_cast<std::int64_t>(mine.size()), deadline);
    const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::vector<std::int64_t> wanted;
    for (std::int64_t p = 1; p < size; ++p)
        wanted.push_back(p * (all / size) + std::min(p, all % size));
    const auto pick = [&](std::span<const std::int64_t> rows, std::byte* keys) {
        auto* const into = reinterpret_cast<Key*>(keys);
        for (std::size_t k = 0; k < rows.size(); ++k)
            into[k] = mine[static_cast<std::size_t>(rows[k])];
    };
    const auto place = [&](const std::byte* keys, std::span<std::int64_t> less,
                           std::span<std::int64_t> less_or_equal) {
        const auto* const key = reinterpret_cast<const Key*>(keys);
        for (std::size_t k = 0; k < less.size(); ++k) {
            const auto [first, last] = std::equal_range(mine.begin(), mine.end(), key[k], before);
            less[k] = first - mine.begin();
            less_or_equal[k] = last - mine.begin();
        }
    };
    const auto cuts = divide(comm, {sizeof(Key), pick, place}, counts, wanted, false, deadline);
    std::vector<std::int64_t> to(mine.size(), 0);
    for (std::size_t p = 0; p < wanted.size(); ++p) {
        const std::int64_t from = cuts[static_cast<std::size_t>(comm.rank()) * wanted.size() + p];
        std::fill(to.begin() + from, to.end(), static_cast<std::int64_t>(p) + 1);
    }
    const Exchange exchange(comm, to, deadline);
    Records found = exchange.send(reinterpret_cast<const std::byte*>(mine.data()), sizeof(Key));
    auto* const first = reinterpret_cast<Key*>(found.data.get());
    std::sort(first, first + found.count, before);
    return found;
}

// Lines along the last dimension, which processes share.
template <class T>
Array grade_shared(const Array& lines, const ComputeOptions& options) {
    const Comm& comm = lines.comm();
    const Shape& shape = lines.layout().shape();
    const auto own = numbers(lines);
    const Dense elements(lines);
    std::vector<Keyed<T>> mine(own.size());
    for (std::size_t k = 0; k < own.size(); ++k) {
        mine[k].line = own[k] / shape.back();
        mine[k].index = own[k] % shape.back();
        mine[k].value = elements.as<T>()[k];
    }
    const Records found =
        sort_everywhere(comm, std::move(mine), options.descending, options.deadline);
    const auto counts = allgather(comm, found.count, options.deadline);
    const Array result = Array::empty(runs(shape, counts), dtype_of<std::int64_t>(), comm);
    const auto* const keys = reinterpret_cast<const Keyed<T>*>(found.data.get());
    for (std::int64_t k = 0; k < found.count; ++k)
        static_cast<std::int64_t*>(result.data())[k] = keys[k].index + options.first_index;
    return result;
}

template <class T>
Array graded(const Array& array, std::size_t dim, const ComputeOptions& options) {
    const Deadline deadline = options.deadline;
    const Shape& shape = array.layout().shape();
    if (is_local(array.layout(), dim)) return grade_local<T>(array, dim, options);
    const std::int64_t size = array.comm().size();
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (d != dim && shape[d] >= size)
            return grade_local<T>(
                to(array, balanced(shape, size, static_cast<std::int64_t>(d)), deadline), dim,
                options);
    std::vector<std::size_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(dim),
                axes.begin() + static_cast<std::ptrdiff_t>(dim) + 1, axes.end());
    // The dimension last, without copies: later steps count each element once.
    const Array even = sole(on_grid(array, deadline), deadline);
    Shape strides;
    for (const std::size_t axis : axes) strides.push_back(even.strides()[axis]);
    const Array lines = Array::wrap(even.data(), transposed(even.layout(), axes), even.dtype(),
                                    even.comm(), strides, even.keep());
    const Array found = grade_shared<T>(lines, options);
    const Array result = Array::empty(even.layout(), found.dtype(), found.comm());
    Shape back;
    for (const std::size_t axis : axes) back.push_back(result.strides()[axis]);
    copy(found,
         Array::wrap(result.data(), lines.layout(), found.dtype(), found.comm(), back,
                     result.keep()),
         deadline);
    return result;
}

}  // namespace

Array grade(const Array& array, const ComputeOptions& options) {
    agree(array.comm(), "grade(" + said(array) + said_with_first(options) + ")", options.deadline,
          [&] {
              require_dim(array, options);
              if (!options.dim && array.layout().dimensions() != 1)
                  throw LayoutError("grade of an array of " +
                                    std::to_string(array.layout().dimensions()) +
                                    " dimensions; give the one along which it is put in order");
              if (!with_real(array.dtype(), [](auto) {}))
                  throw MismatchError("grade does not take " + array.dtype().name +
                                      "; it takes integers of 8 to 64 bits, float32 and float64");
          });
    const Array source = in_order(array, options);
    const std::size_t dim = dim_in_order(array, options);
    std::optional<Array> found;
    with_real(array.dtype(),
              [&](auto zero) { found = graded<decltype(zero)>(source, dim, options); });
    return out_of_order(*found, options, array.layout());
}

}  // namespace hocket
