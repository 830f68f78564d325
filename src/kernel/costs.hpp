// SPDX-License-Identifier: BSD-3-Clause
// What the passes over an array in place cost, by which a plan is chosen: 1 reads and writes the
// array once. Fitted to one core of a Sapphire Rapids.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// Moving blocks from anywhere: a block costs what its bytes cost, and a part for being somewhere
/// else.
double scattered(std::int64_t block, bool cached = false);

/// A pass through a buffer: little beside the array's own traffic while buffer and panel share the
/// second-level cache; beyond that, every byte of the buffer goes through the next level.
double buffered(std::int64_t bytes);

/// The same for panels that change places in rings.
double ringed(std::int64_t bytes);

/// Square tiles of `side` units of `unit` bytes, turned where they lie, in cache.
double turned_tiles(std::int64_t unit, std::int64_t side);

/// Square tiles of blocks of some lines, `bytes` each, through a buffer.
double turned_blocks(std::int64_t bytes);

/// Squares of several tiles, which change places in pairs: in cache, or past the caches where
/// these do not hold their rows.
double swapped_tiles(bool held);

/// An array that stays in the second-level cache: what counts there is how often it is copied.
bool fits_cache(const Permutation& permutation);

std::string size_text(std::int64_t bytes);

}  // namespace hocket::kernel
