// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a machine of the other byte order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Reverses the bytes of each number of `number_bytes` bytes; `bytes` is a multiple of it.
void reverse_numbers(std::byte* data, std::int64_t bytes, std::int64_t number_bytes);

}  // namespace hocket::kernel
