// SPDX-License-Identifier: BSD-3-Clause
// What can be wrong with the memory of a transfer's two arrays.
#pragma once

#include "comm/agree.hpp"
#include "hocket/array.hpp"

namespace hocket::transfer {

/// A destination that may not be written or overlaps the source.
comm::Fault fault_in_memory(const Array& source, const Array& destination);
comm::Fault no_such_root(int root, int size);

}  // namespace hocket::transfer
