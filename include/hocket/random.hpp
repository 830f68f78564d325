// SPDX-License-Identifier: BSD-3-Clause
// Counter-based random numbers: an element gets the same numbers on every process.
#pragma once

#include <cstdint>
#include <span>

namespace hocket {

/// words[2 k] and words[2 k + 1] are 128 random bits of element numbers[k], by Philox4x32-10
/// (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). The counter
/// is the number of the element, and the key is `seed`. @throws Error unless there are two words a
/// number.
void philox(std::uint64_t seed, std::span<const std::int64_t> numbers,
            std::span<std::uint64_t> words);

}  // namespace hocket
