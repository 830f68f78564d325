// SPDX-License-Identifier: BSD-3-Clause
// Cells: partial results of reductions in transit. A cell is a number, or a number with its index.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "hocket/computing.hpp"

namespace hocket::array {

/// Dense elements (outer, length, inner), to be reduced along `length` to (outer, inner).
struct Lines {
    std::int64_t outer = 1, length = 0, inner = 1;
    const std::byte* elements = nullptr;
    const std::uint8_t* mask = nullptr;       ///< one an element; null: all take part
    std::span<const std::int64_t> numbers{};  ///< of each index along `length`, for locate
    std::int64_t size() const { return outer * length * inner; }
    std::int64_t results() const { return outer * inner; }
};

struct Cells {
    std::int64_t bytes = 0;  ///< of one cell
    DType result;            ///< the type that `finish` makes
    std::function<void(std::byte* cells, std::int64_t count)> clear;
    std::function<void(std::byte* cells, const Lines& lines)> add;
    std::function<void(std::byte* into, const std::byte* from, std::int64_t count)> merge;
    std::function<void(const std::byte* cells, std::int64_t count, void* results)> finish;
};

/// Not of exact sums. @throws MismatchError for a type without this operation.
Cells cells_of(Combine op, const DType& dtype);
/// For maxval or minval; `none` is the index if there is no element.
Cells locating_cells(Combine op, const DType& dtype, std::int64_t none);

}  // namespace hocket::array
