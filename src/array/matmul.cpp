// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices by panels of the inner dimension: each process gets the rows and columns
// that its part of the result needs, by two aligned layouts (R. van de Geijn, J. Watts, "SUMMA:
// scalable universal matrix multiplication algorithm", 1997).
#include <algorithm>
#include <cstring>
#include <limits>

#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "base/text.hpp"
#include "layout/form.hpp"

namespace hocket {
namespace {

using namespace array;

// Bytes of one operand's panel on a process, if HOCKET_MAX_BUFFER is not less.
constexpr std::int64_t panel = std::int64_t{64} << 20;

// c += a b, by blocks of rows of b that stay in the cache.
template <class T>
void multiply_rows(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) {
    constexpr std::int64_t deep = 64, wide = 512;
    using Sum = Fold<T, Combine::sum>;
    using Product = Fold<T, Combine::product>;
    for (std::int64_t j0 = 0; j0 < n; j0 += wide)
        for (std::int64_t l0 = 0; l0 < k; l0 += deep)
            for (std::int64_t i = 0; i < m; ++i) {
                T* const row = c + i * n;
                const std::int64_t j1 = std::min(j0 + wide, n);
                for (std::int64_t l = l0; l < std::min(l0 + deep, k); ++l) {
                    const T factor = a[i * k + l];
                    const T* const other = b + l * n;
                    for (std::int64_t j = j0; j < j1; ++j)
                        row[j] = Sum::of(row[j], Product::of(factor, other[j]));
                }
            }
}

Multiply own_loop(const DType& dtype) {
    Multiply found;
    with_number(dtype, [&](auto zero) {
        using T = decltype(zero);
        found = [](std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b,
                   void* c) {
            multiply_rows(m, n, k, static_cast<const T*>(a), static_cast<const T*>(b),
                          static_cast<T*>(c));
        };
    });
    return found;
}

// Whole rows of the first and whole columns of the second operand, aligned with the result's.
std::pair<Layout, Layout> needed(const Layout& result, const Shape& a, const Shape& b) {
    return {aligned(a, {"i", "*"}, {"i", "*"}, result), aligned(b, {"*", "j"}, {"*", "j"}, result)};
}

// Operands without elements move nothing, and no layout can be aligned with an extent of 0.
bool without_products(const Layout& a, const Layout& b) {
    return a.num_elements() == 0 || b.num_elements() == 0;
}

Layout product_layout(const Layout& a, const Layout& b, std::int64_t size) {
    const Shape shape{a.shape()[0], b.shape()[1]};
    if (without_products(a, b)) return balanced(shape, size);
    std::optional<Layout> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Layout& layout : {like(a, shape), like(b, shape), balanced(shape, size, 0)}) {
        if (!layout.form().gridded() || !without_copies(layout)) continue;
        const auto [rows, columns] = needed(layout, a.shape(), b.shape());
        const std::int64_t elements = moved(a, rows) + moved(b, columns);
        if (elements >= least) continue;
        least = elements;
        best = layout;
    }
    return *best;
}

Array product(const Array& a, const Array& b, const Multiply& multiply, Deadline deadline) {
    const Layout layout = product_layout(a.layout(), b.layout(), a.comm().size());
    const Array result = Array::empty(layout, a.dtype(), a.comm());
    const std::int64_t count = count_of(result), depth = a.layout().shape()[1];
    if (count > 0) std::memset(result.data(), 0, static_cast<std::size_t>(count * a.dtype().size));
    if (without_products(a.layout(), b.layout())) return result;
    std::int64_t widest = 1;
    for (std::int64_t r = 0; r < layout.size(); ++r)
        for (const std::int64_t extent : layout.local_shape(r)) widest = std::max(widest, extent);
    const std::int64_t step =
        std::max<std::int64_t>(1, within_buffers(panel) / (widest * a.dtype().size));
    for (std::int64_t first = 0; first < depth; first += step) {
        const std::int64_t last = std::min(first + step, depth);
        const Array left = slab(a, 1, first, last), right = slab(b, 0, first, last);
        const auto [rows, columns] = needed(layout, left.layout().shape(), right.layout().shape());
        const Array x = to(left, rows, deadline), y = to(right, columns, deadline);
        if (count == 0) continue;
        multiply(result.local_shape()[0], result.local_shape()[1], last - first, Dense(x).data(),
                 Dense(y).data(), result.data());
    }
    return result;
}

// A vector as a matrix of one row or one column, in the same memory.
Array as_matrix(const Array& vector, bool column) {
    const std::int64_t extent = vector.layout().shape()[0];
    const Layout layout = column ? aligned({extent, 1}, {"i", "*"}, {"i"}, vector.layout())
                                 : aligned({1, extent}, {"*", "i"}, {"i"}, vector.layout());
    const std::int64_t step = vector.strides()[0], size = vector.dtype().size;
    return Array::wrap(vector.data(), layout, vector.dtype(), vector.comm(),
                       column ? Shape{step, size} : Shape{size, step}, vector.keep());
}

Array as_vector(const Array& matrix, bool column) {
    const Layout layout =
        column ? aligned({matrix.layout().shape()[0]}, {"i"}, {"i", "0"}, matrix.layout())
               : aligned({matrix.layout().shape()[1]}, {"i"}, {"0", "i"}, matrix.layout());
    return over(matrix.data(), layout, matrix.dtype(), matrix.comm(), matrix.keep());
}

}  // namespace

Array matmul(const Array& a, const Array& b, const ComputeOptions& options,
             const Multiply& multiply) {
    const Deadline deadline = options.deadline;
    const std::size_t m = a.layout().dimensions(), n = b.layout().dimensions();
    agree(a.comm(), "matmul(" + said(a) + ", " + said(b) + said(options) + ")", deadline, [&] {
        require_comm(a, b);
        const std::string shapes =
            text::tuple(a.layout().shape()) + " and " + text::tuple(b.layout().shape());
        if (m < 1 || m > 2 || n < 1 || n > 2 || m + n < 3)
            throw LayoutError("matmul takes two matrices, or a matrix and a vector, not shapes " +
                              shapes + "; use dot_product for vectors");
        if (a.layout().shape()[m - 1] != b.layout().shape()[0])
            throw LayoutError("shapes " + shapes +
                              " do not multiply: the last extent of the first is not the first of "
                              "the second; transpose one of them");
        if (!(a.dtype() == b.dtype()))
            throw MismatchError("the operands of matmul hold " + a.dtype().name + " and " +
                                b.dtype().name + "; make both of one type");
        if (!multiply && !own_loop(a.dtype()))
            throw MismatchError("matmul does not take " + a.dtype().name +
                                "; it takes integers of 8 to 64 bits, float32, float64, complex64 "
                                "and complex128");
    });
    // In column-major order, the transposed operands are the row-major matrices of the transposed
    // product.
    const bool turned = options.order == Order::column_major;
    const Array first = on_grid(in_order(turned ? b : a, options), deadline);
    const Array second = on_grid(in_order(turned ? a : b, options), deadline);
    const bool row = (turned ? n : m) == 1, column = (turned ? m : n) == 1;
    const Array result =
        product(row ? as_matrix(first, false) : first, column ? as_matrix(second, true) : second,
                multiply ? multiply : own_loop(a.dtype()), deadline);
    return row || column ? as_vector(result, column) : out_of_order(result, options);
}

}  // namespace hocket
