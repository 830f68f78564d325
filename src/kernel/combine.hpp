// SPDX-License-Identifier: BSD-3-Clause
// Elementwise reduction of one array into another.
#pragma once

#include <cstdint>
#include <string>

namespace hocket::kernel {

/// into[i] = into[i] op from[i]. Integers wrap, NaN wins in min and max, bool adds as or and
/// multiplies as and; "and" and "or" are bitwise. `dtype`: a NumPy name: bool, int8 to int64, uint8
/// to uint64, float32, float64; complex64 and complex128 for "add" and "mul".
using Combine = void (*)(void* into, const void* from, std::int64_t count);
/// "add" "mul" "min" "max" "and" "or". @throws Error for an unknown operation, and one that the
/// type does not have.
Combine combine_of(const std::string& op, const std::string& dtype);

}  // namespace hocket::kernel
