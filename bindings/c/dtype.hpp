// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hocket/array.hpp"

namespace hocket::c {

/// The element type with this name. `itemsize` 0: the size of NumPy's number type.
/// @throws ArgumentError for a name of unknown size, or of another size.
DType dtype_of_name(const char* name, std::int64_t itemsize);

}  // namespace hocket::c
