// SPDX-License-Identifier: BSD-3-Clause
// Common to all operations on arrays: agreement, operands as row-major memory, and moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hocket/computing.hpp"

namespace hocket::array {

/// Agrees on one call: no process has an error from `check`, and all have the same `text`.
/// Collective. @throws on every process any process's error.
void agree(const Comm& comm, std::string text, Deadline deadline,
           const std::function<void()>& check);
/// The array's description in a call's text.
std::string said(const Array& array);
std::string said(const ComputeOptions& options);
/// With the number of the first index, for calls that take or give indices.
std::string said_with_first(const ComputeOptions& options);

/// @throws Error for arrays over another communicator than `array`'s.
void require_comm(const Array& array, const Array& other);
/// @throws LayoutError
void require_shape(const Array& array, const Array& other, const char* noun);
/// @throws MismatchError for another type than bool and integers.
void require_truths(const Array& mask, const char* noun);
/// @throws MismatchError for another type than integers.
void require_integers(const Array& array, const char* noun);
/// @throws LayoutError for a dimension that the array does not have.
void require_dim(const Array& array, const ComputeOptions& options);
/// Checks that the options' mask, if there is one, fits the array.
void require_own_mask(const Array& array, const ComputeOptions& options);

/// For column-major order, the array with reversed dimensions, so that all later code uses
/// row-major order only. Moves listed elements to even parts first. Collective if it moves them.
Array in_order(const Array& array, const ComputeOptions& options);
/// The layout of that array.
Layout in_order(const Layout& layout, const ComputeOptions& options, std::int64_t size);
/// The inverse; in `layout`, an equal layout, if it is given.
Array out_of_order(const Array& result, const ComputeOptions& options);
Array out_of_order(const Array& result, const ComputeOptions& options, const Layout& layout);
/// The number of the dimension in that array.
std::size_t dim_in_order(const Array& array, const ComputeOptions& options, std::int64_t dim = 0);

/// The array in a layout; the array itself if it has that layout. Collective.
Array to(const Array& array, const Layout& layout, Deadline deadline);
/// The array in a layout whose parts are products of sets of indices. Collective.
Array on_grid(const Array& array, Deadline deadline);
/// The array in a layout without copies. Collective.
Array sole(const Array& array, Deadline deadline);
/// hocket::redistribute. Collective.
void copy(const Array& source, const Array& destination, Deadline deadline);
/// New memory with the array's elements in `layout`. Collective.
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
/// The local elements by their row-major numbers, whatever their strides.
class LocalElements {
  public:
    explicit LocalElements(const Array& array);
    std::byte* at(std::int64_t number) const;

  private:
    Array array_;
    bool dense_;
};
/// The number of elements that this process holds.
std::int64_t count_of(const Array& array);
/// Whether this process contributes its elements to a sum: the lowest of those with copies does.
/// Not for lists and boxes with copies.
bool contributes(const Array& array);
/// A mask's local elements as 0 and 1.
std::vector<std::uint8_t> truths(const Array& mask);
/// Local elements of any type of integers, less `first`.
std::vector<std::int64_t> integers(const Array& array, std::int64_t first = 0);
/// The row-major number of each local element.
std::vector<std::int64_t> numbers(const Array& array);
std::vector<std::int64_t> numbers(const Layout& layout, std::int64_t process);
/// An array of a layout over dense local memory.
Array over(const void* data, const Layout& layout, const DType& dtype, const Comm& comm,
           std::shared_ptr<const void> keep = {});
/// The section [first, last) of one dimension. For arrays on a grid.
Array slab(const Array& array, std::size_t dim, std::int64_t first, std::int64_t last);

/// The most bytes of a temporary array: `bytes`, or HOCKET_MAX_BUFFER if that is less.
std::int64_t within_buffers(std::int64_t bytes);

/// Elements of any bytes, by NumPy's name.
DType record_of(std::int64_t bytes);
/// A row of each process, which all processes get. `data` is memory for this process's row.
class Row {
  public:
    Row(const Comm& comm, std::int64_t bytes);
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    std::byte* data() const { return data_; }
    /// Whether it travels by a transfer, which compares the bytes of all calls, but not their text.
    bool is_long() const { return array_.has_value(); }
    /// The rows of all processes, one after the other. Collective, and the last use of this row.
    /// `call`: its text, which must be the same on all processes.
    std::shared_ptr<const std::byte> gather(const std::string& call, Deadline deadline);

  private:
    Comm comm_;
    std::int64_t bytes_;
    std::string text_;            // a short row, which travels with the agreement
    std::optional<Array> array_;  // a long one, which the transfer may use after a deadline
    std::byte* data_;
};
/// The rows of all processes, of `bytes` bytes each, on every process. Collective. `call`: as of
/// Row::gather.
std::shared_ptr<const std::byte> allgather(const Comm& comm, const std::string& call,
                                           const void* mine, std::int64_t bytes, Deadline deadline);
std::vector<std::byte> allgather(const Comm& comm, const void* mine, std::int64_t bytes,
                                 Deadline deadline);
/// The rows of all processes, of one length, merged in pairs by the messages of an agreement, on
/// every process. `merge` changes the first by the second. Collective. `call`: as of Row::gather.
std::string merged(const Comm& comm, const std::string& call, std::string mine,
                   std::function<void(std::string& row, const std::string& other)> merge,
                   Deadline deadline);
/// Gathers one number of every process.
std::vector<std::int64_t> allgather(const Comm& comm, std::int64_t mine, Deadline deadline);

}  // namespace hocket::array
