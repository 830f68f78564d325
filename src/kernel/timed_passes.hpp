// SPDX-License-Identifier: BSD-3-Clause
// The passes whose costs `hocket calibrate` measures, over arrays of units of `timed_unit` bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/meter.hpp"

namespace hocket::kernel {

constexpr std::int64_t timed_unit = 8;

enum class Rings { none, all, allowed };

/// Panels of so many rows and bytes.
TimedPass panels_of(std::int64_t width, std::int64_t bytes, Rings rings);
/// Slabs of such matrices or tensors.
TimedPass slabs_of(std::vector<std::int64_t> shape);
/// Tiles of a matrix with so many columns.
TimedPass tiles_of(std::int64_t side, std::int64_t columns);
/// Cycles after these tiles, which follow their rings or, to compare, do not.
TimedPass steps_of(std::int64_t side, std::int64_t columns, bool rings);

}  // namespace hocket::kernel
