// SPDX-License-Identifier: BSD-3-Clause
// Conversion of numbers between types, with the values of NumPy's astype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hocket::kernel {

/// Whether both are NumPy's names of bool, integers of 8 to 64 bits, float16 to float64, complex64
/// or complex128.
bool converts(const std::string& from, const std::string& to);

/// Converts `count` contiguous elements of such types into other memory. Numbers round to nearest;
/// an imaginary part is dropped; integers wrap around; a float that an integer type does not have
/// gives some integer.
void convert(const std::string& from, const std::byte* source, const std::string& to,
             std::byte* target, std::int64_t count);

}  // namespace hocket::kernel
