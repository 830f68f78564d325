// SPDX-License-Identifier: BSD-3-Clause
// Indices and dimensions in messages, as the caller's language counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hocket::text {

/// The number of the first index and dimension in this thread's messages: 0, or 1 in calls from
/// Fortran.
std::int64_t first_index();
void set_first_index(std::int64_t first);

/// Sets this thread's first index, and restores it: a call in the meantime is another's.
class FirstIndex {
  public:
    explicit FirstIndex(std::int64_t first) : before_(first_index()) { set_first_index(first); }
    ~FirstIndex() { set_first_index(before_); }
    FirstIndex(const FirstIndex&) = delete;
    FirstIndex& operator=(const FirstIndex&) = delete;

  private:
    const std::int64_t before_;
};

/// index + number of the first one. It wraps, because so does the index of a caller who counts from
/// another number.
std::int64_t shifted(std::int64_t index, std::int64_t first = first_index());

/// An index or a dimension, counted from first_index().
std::string number(std::int64_t index);
std::string number(std::size_t dimension);
/// A list of them: "(0, 2)", in calls from Fortran "(1, 3)".
std::string numbers(std::span<const std::int64_t> indices);
/// "axes (1, 0)", in calls from Fortran "order (2, 1)".
std::string axes(std::span<const std::int64_t> given);

}  // namespace hocket::text
