// SPDX-License-Identifier: BSD-3-Clause
// What can be wrong with the memory of a transfer's two arrays.
#pragma once

#include "comm/agree.hpp"
#include "hocket/array.hpp"

namespace hocket::transfer {

/// A destination that may not be written.
comm::Fault fault_in_writing(const Array& destination);
/// The same, or one that shares memory with the source. An array may be its own destination where
/// every element stays where it is: in the same layout, `transposed` false.
comm::Fault fault_between(const Array& source, const Array& destination, bool transposed);
comm::Fault no_such_root(int root, int size);

}  // namespace hocket::transfer
