// SPDX-License-Identifier: BSD-3-Clause
// Checks of the memory of a transfer's two arrays.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "comm/agree.hpp"
#include "hocket/array.hpp"

namespace hocket::transfer {

/// The error of a destination that is read-only, or whose elements overlap.
comm::Fault fault_in_writing(const Array& destination);
/// The error of the destination, or of a destination that overlaps the source.
comm::Fault fault_between(const Array& source, const Array& destination);
/// The indices of two arrays that share memory, the lower one first, if there are any.
std::optional<std::pair<std::size_t, std::size_t>> sharing_memory(std::span<const Array> arrays);
/// The error of the root's whole array of a scatter or a gather, which must not share memory with
/// `local`. `strides`: empty: dense.
comm::Fault fault_of_whole(const void* whole, const Shape& strides, const Array& local,
                           bool written);

comm::Fault no_such_root(int root, int size);

}  // namespace hocket::transfer
