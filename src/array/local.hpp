// SPDX-License-Identifier: BSD-3-Clause
// What every operation on arrays begins with: agreement, operands as row-major memory, and moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hocket/computing.hpp"

namespace hocket::array {

/// One call: its processes agree that `check` finds nothing wrong on any of them, and that they
/// mean the same by `text`. Collective. @throws on every process what any check throws.
void agree(const Comm& comm, std::string text, Deadline deadline,
           const std::function<void()>& check);
/// As it is said in a call's text.
std::string said(const Array& array);
std::string said(const ComputeOptions& options);

/// @throws Error for arrays over another communicator than `array`'s.
void require_comm(const Array& array, const Array& other);
/// @throws LayoutError
void require_shape(const Array& array, const Array& other, const char* noun);
/// @throws MismatchError for another type than bool and integers.
void require_mask(const Array& mask);
/// @throws LayoutError for a dimension that the array has not.
void require_dim(const Array& array, const ComputeOptions& options);
/// The options' mask, if there is one, fits the array.
void require_own_mask(const Array& array, const ComputeOptions& options);

/// The array whose dimensions, in a column-major order, are read from the last to the first: so all
/// that follows knows row-major order alone. Listed elements move to even parts first. Collective
/// where they do.
Array in_order(const Array& array, const ComputeOptions& options);
/// The layout that it then has.
Layout in_order(const Layout& layout, const ComputeOptions& options, std::int64_t size);
/// Back: in `layout`, if that is given, which the result then has by another name.
Array out_of_order(const Array& result, const ComputeOptions& options);
Array out_of_order(const Array& result, const ComputeOptions& options, const Layout& layout);
/// The dimension that it then is.
std::size_t dim_in_order(const Array& array, const ComputeOptions& options, std::int64_t dim = 0);

/// The array in a layout; itself where that is its own. Collective.
Array to(const Array& array, const Layout& layout, Deadline deadline);
/// The array in a layout whose parts are products of sets of indices. Collective.
Array on_grid(const Array& array, Deadline deadline);
/// The array in a layout without copies. Collective.
Array sole(const Array& array, Deadline deadline);
/// hocket::redistribute. Collective.
void copy(const Array& source, const Array& destination, Deadline deadline);
/// Memory of its own with the array's elements in `layout`. Collective.
Array copied(const Array& array, const Layout& layout, Deadline deadline);

/// The local elements as dense row-major memory: the array's own, or a copy.
class Dense {
  public:
    explicit Dense(const Array& array);
    const std::byte* data() const { return data_; }
    template <class T>
    std::span<const T> as() const {
        return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(count_)};
    }
    std::int64_t count() const { return count_; }

  private:
    std::shared_ptr<std::byte> copy_;
    const std::byte* data_;
    std::int64_t count_;
};
/// How many elements this process holds.
std::int64_t count_of(const Array& array);
/// A mask's local elements as 0 and 1.
std::vector<std::uint8_t> truths(const Array& mask);
/// The row-major number of each local element.
std::vector<std::int64_t> numbers(const Array& array);
/// An array of a layout over local memory that is dense.
Array over(const void* data, const Layout& layout, const DType& dtype, const Comm& comm,
           std::shared_ptr<const void> keep = {});
/// The section of extent [first, last) of one dimension. Of a grid's arrays.
Array slab(const Array& array, std::size_t dim, std::int64_t first, std::int64_t last);

/// Every process's `bytes` bytes, one process after the other. Collective.
std::vector<std::byte> allgather(const Comm& comm, const void* mine, std::int64_t bytes,
                                 Deadline deadline);
/// The same of one number.
std::vector<std::int64_t> allgather(const Comm& comm, std::int64_t mine, Deadline deadline);

/// Records of `bytes` bytes, record k to process to[k]; they arrive in the order of their senders,
/// and of one sender in the order that they had. Collective.
struct Records {
    std::shared_ptr<std::byte> data;
    std::int64_t count = 0;
};
Records exchange(const Comm& comm, std::span<const std::int64_t> to, const std::byte* records,
                 std::int64_t bytes, Deadline deadline);

}  // namespace hocket::array
