// SPDX-License-Identifier: BSD-3-Clause
// The cost of passes over an array in place, by which hocket selects a plan; 1 reads and writes the
// array once. Fitted to one core of a Sapphire Rapids.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// Moves blocks in arbitrary order. The cost of a block is that of its bytes plus a constant part
/// for its random position.
double scattered(std::int64_t block, bool cached = false);

/// A pass through a buffer. It costs little beside the array's own traffic while buffer and panel
/// share the second-level cache; beyond that, every byte of the buffer uses the next level.
double buffered(std::int64_t bytes);

/// A pass whose panels move in rings.
double ringed(std::int64_t bytes);

/// Transposes square tiles of `side` units of `unit` bytes in place, in cache.
double transposed_tiles(std::int64_t unit, std::int64_t side);

/// Transposes square tiles of blocks of some lines, `bytes` each, through a buffer.
double transposed_blocks(std::int64_t bytes);

/// Swaps pairs of square tiles of several tiles: in cache, or past the caches if these do not hold
/// their rows.
double swapped_tiles(bool held);

/// An array that stays in the second-level cache, where the number of copies dominates the cost.
bool fits_cache(const Permutation& permutation);

std::string size_text(std::int64_t bytes);

}  // namespace hocket::kernel
