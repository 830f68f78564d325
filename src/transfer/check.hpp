// SPDX-License-Identifier: BSD-3-Clause
// What can be wrong with the memory of a transfer's two arrays.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "comm/agree.hpp"
#include "hocket/array.hpp"

namespace hocket::transfer {

/// A destination that may not be written, or whose elements overlap.
comm::Fault fault_in_writing(const Array& destination);
/// The same, or one that lies in the range of memory of the source.
comm::Fault fault_between(const Array& source, const Array& destination);
/// The places of two arrays that share memory, the lower one first, if there are any.
std::optional<std::pair<std::size_t, std::size_t>> sharing_memory(std::span<const Array> arrays);
comm::Fault no_such_root(int root, int size);

}  // namespace hocket::transfer
