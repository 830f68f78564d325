// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hocket/array.hpp"

namespace hocket::c {

/// The element type of this name. `itemsize` 0: NumPy's of a number type.
/// @throws ArgumentError for a name whose size is not known, or is another one.
DType dtype_of_name(const char* name, std::int64_t itemsize);

}  // namespace hocket::c
