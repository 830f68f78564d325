// SPDX-License-Identifier: BSD-3-Clause
// Operations on whole arrays: the intrinsic functions of HPF and Fortran, for any layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"

namespace hocket {

/// An associative operation, by HPF's name (High Performance Fortran 1.1, section 5.4). Integers
/// wrap around; NaN wins in maxval and minval. `all`, `any`, `parity` and `count` take bool or
/// integers, of which all but 0 are true; `replace` (HPF's COPY) is for scatter_combine alone.
enum class Combine : std::uint8_t {
    sum,
    product,
    maxval,
    minval,
    all,
    any,
    parity,
    iall,
    iany,
    iparity,
    count,
    replace
};

/// Options of the functions below. Each function reads the members that it names.
struct ComputeOptions {
    std::optional<std::int64_t> dim = {};  ///< a dimension, from 0; none: all elements
    /// Only elements take part at which the mask is true: bool or integers, of the array's shape
    /// and any layout.
    std::optional<Array> mask = {};
    /// Of scan: bool or integers, of the array's shape; a segment begins where their truth changes.
    std::optional<Array> segment = {};
    /// Of cshift and eoshift: integers, of the array's shape without `dim`: more shift of each
    /// line.
    std::optional<Array> shifts = {};
    bool exclusive = false;   ///< of scan: without the element itself
    bool suffix = false;      ///< of scan: from the last element on
    bool descending = false;  ///< of grade: the largest first
    /// The order of elements in functions that say "in order", and the memory order of results.
    Order order = Order::row_major;
    std::int64_t first_index = 0;  ///< number of the first index of a dimension: Fortran's is 1
    Deadline deadline = {};        ///< of each wait
};

// Every function but for_each, item, global_indices, transpose and random_* is collective over the
// arrays' communicator. Results are new arrays; every process holds a result of shape (). Wrong
// arguments of one process raise on every process (LayoutError: shapes, dimensions, indices;
// MismatchError: types, different calls; Error: different communicators), before any element moves.

/// Combines the elements: the result has shape () or, along `dim`, the array's shape without that
/// dimension. Reads `mask`. Sums of floating-point numbers (float16, 32, 64; complex, by parts) are
/// exact and rounded once, so their bits do not depend on the layout. The type is the array's; of
/// count int64. Without elements: the operation's identity, -inf for maxval and inf for minval.
/// Layout along `dim`: the array's without the dimension; processes that shared it hold copies.
Array reduce(const Array& array, Combine op, const ComputeOptions& options = {});

/// MAXLOC and MINLOC (`op`: maxval, minval): the index of the first such element in order, of shape
/// (dimensions), or its index along `dim`, without that dimension; int64. Reads `mask`. Without
/// elements: first_index - 1.
Array locate(const Array& array, Combine op, const ComputeOptions& options = {});

/// The sum of products of two arrays of one shape, of shape (). For floating-point numbers it is
/// the exact sum of exact products, rounded once; bool and integers of one byte wrap around.
/// Conjugates complex numbers of `a`, as Fortran's DOT_PRODUCT does.
Array dot_product(const Array& a, const Array& b, const ComputeOptions& options = {});

/// The product of matrices, or of a matrix and a vector. Panels of rows and columns move to the
/// processes of the result (van de Geijn and Watts, "SUMMA", 1997). The result has the layout of an
/// operand, or one along rows, whichever moves the fewest bytes. `multiply(m, n, k, a, b, c)`: adds
/// the product of dense row-major local matrices, m x k and k x n, to c; none: hocket's own loop,
/// so pass your BLAS.
using Multiply = std::function<void(std::int64_t m, std::int64_t n, std::int64_t k, const void* a,
                                    const void* b, void* c)>;
Array matmul(const Array& a, const Array& b, const ComputeOptions& options = {},
             const Multiply& multiply = {});

/// result(i) = array(i + shift) along `dim` (none: 0), around the end (CSHIFT) or with the element
/// at `boundary` beyond it (EOSHIFT; nullptr: zero bytes). Reads `shifts`, which are added to
/// `shift`. Any type, the array's layout.
Array cshift(const Array& array, std::int64_t shift, const ComputeOptions& options = {});
Array eoshift(const Array& array, std::int64_t shift, const void* boundary = nullptr,
              const ComputeOptions& options = {});

/// destination = source, of one shape and type and of any layouts. Both may be sections of one
/// array, which may overlap: hocket reads the source before it changes the destination.
void assign(const Array& destination, const Array& source, Deadline deadline = {});

/// Elements of `yes` if the mask is true, else of `no`. Layout: that of the operand to which all
/// three move with the fewest bytes; on a tie the first.
Array merge(const Array& yes, const Array& no, const Array& mask,
            const ComputeOptions& options = {});

/// The elements at which the mask is true, in order, in even parts (BALANCED). With a `vector`, the
/// result has its length, and its elements after those.
Array pack(const Array& array, const Array& mask, const ComputeOptions& options = {},
           const std::optional<Array>& vector = {});
/// `field`, with the k-th element of `vector` at the k-th true element of the mask, in order. The
/// field has the mask's shape, or shape (). Layout: the mask's.
Array unpack(const Array& vector, const Array& mask, const Array& field,
             const ComputeOptions& options = {});

/// `copies` of the array along a new dimension `dim` (none: 0), which is not distributed.
Array spread(const Array& array, std::int64_t copies, const ComputeOptions& options = {});

/// The matrix whose element (i, j) is the array's (j, i), in the same memory. Local.
Array transpose(const Array& array);

/// Prefix and suffix operations (SUM_PREFIX, MAXVAL_SUFFIX, …): combines each element with all
/// before it, along `dim`, or of the whole array in order. Reads `mask`, `segment`, `exclusive` and
/// `suffix`.
/// Sums of floating-point numbers depend on the parts: close, not exact. The array's layout.
Array scan(const Array& array, Combine op, const ComputeOptions& options = {});

/// XXX_SCATTER: combines each value into the element of `base` that its indices name; there is one
/// array of integers for each dimension of base, counted from `first_index`. Values, indices and
/// mask have one shape. A floating-point sum is exact; other values are combined in the order of
/// their elements, and `replace` keeps the last one. Layout: base's.
Array scatter_combine(const Array& base, const Array& values, std::span<const Array> indices,
                      Combine op, const ComputeOptions& options = {});

/// GRADE_UP and, with `descending`, GRADE_DOWN: the indices along `dim` (a vector needs none) that
/// sort the elements. Equal elements keep their order; NaN comes last. int64, the array's layout.
Array grade(const Array& array, const ComputeOptions& options = {});

/// Random numbers by counter: the value of an element depends on the seed, the function with its
/// arguments, and the element's row-major number, but not on the layout (Salmon, Moraes, Dror,
/// Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). All languages get the same numbers.
/// Local. From `low` up to, but not including, `high`. @throws Error unless the array has a
/// floating-point type, can be written, and low <= high, with a finite difference.
void random_uniform(const Array& array, std::uint64_t seed, double low = 0, double high = 1);
/// Normally distributed (Box, Muller, 1958). @throws Error as random_uniform, and for a negative
/// deviation.
void random_normal(const Array& array, std::uint64_t seed, double mean = 0, double deviation = 1);
/// Integers from `low` up to, but not including, `high`. @throws Error unless the array has a type
/// of integers, which can hold them, and can be written; for no integers, and for more than 2^32.
void random_integers(const Array& array, std::uint64_t seed, std::int64_t low, std::int64_t high);

/// The element of an array of shape (). @throws Error for another type or shape.
template <class T>
T item(const Array& array) {
    if (!array.layout().shape().empty())
        throw Error("item takes an array of shape (), as a reduction of all elements gives");
    const auto local = array.local<T>();
    if (array.process() < 0) throw Error("this process does not hold the element");
    return local[0];
}

/// The global indices, from 0, of this process's elements along a dimension, in the order of its
/// local array; of explicit segments and listed elements, those of each element. Local.
std::vector<std::int64_t> global_indices(const Array& array, std::int64_t dimension);

/// FORALL over the elements that this process holds: `body(index, value)` gets the global index, a
/// std::span of one std::int64_t a dimension, and a reference to the element. Local.
/// @throws Error for another type than T.
template <class T, class Body>
void for_each(const Array& array, Body&& body) {
    if (!(array.dtype() == dtype_of<T>()))
        throw Error("for_each<T> of " + dtype_of<T>().name + ", but the array holds " +
                    array.dtype().name);
    const Shape& local = array.local_shape();
    const std::size_t dimensions = array.layout().dimensions();
    if (array.process() < 0) return;
    for (const auto extent : local)
        if (extent == 0) return;
    if (dimensions == 0 && array.layout().local_elements(array.process()) == 0) return;
    const bool listed = array.layout().is_indexed();
    std::vector<std::vector<std::int64_t>> along;
    for (std::size_t d = 0; d < dimensions; ++d)
        along.push_back(global_indices(array, static_cast<std::int64_t>(d)));
    Shape index(dimensions), at(local.size(), 0);
    auto* place = static_cast<std::byte*>(array.data());
    for (std::size_t d = 0; d < dimensions; ++d) index[d] = along[d][0];
    for (;;) {
        body(std::span<const std::int64_t>(index), *reinterpret_cast<T*>(place));
        std::size_t d = local.size();
        while (d-- > 0) {
            place += array.strides()[d];
            if (++at[d] < local[d]) break;
            place -= local[d] * array.strides()[d];
            at[d] = 0;
            if (!listed) index[d] = along[d][0];
        }
        if (d == static_cast<std::size_t>(-1)) return;
        const auto k = static_cast<std::size_t>(at[d]);
        if (listed)
            for (std::size_t e = 0; e < dimensions; ++e) index[e] = along[e][k];
        else
            index[d] = along[d][k];
    }
}

}  // namespace hocket
