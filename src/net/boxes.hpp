// SPDX-License-Identifier: BSD-3-Clause
// Elements that lists of indices name, one list a dimension, to and from memory where they lie
// together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/layout.hpp"

namespace hocket::net {

using IndexLists = std::vector<std::vector<std::int64_t>>;

/// Copies array[lists[0], lists[1], …] (NumPy's ix_) to `packed`, dense and row-major. `strides` of
/// the array, in bytes.
void pack(const IndexLists& lists, std::int64_t itemsize, const void* array, const Shape& strides,
          void* packed);
void unpack(const IndexLists& lists, std::int64_t itemsize, const void* packed, void* array,
            const Shape& strides);

/// Equally spaced elements of an array: distances in bytes, and the first byte.
struct Box {
    Shape extents, strides;
    std::int64_t first = 0;
};
/// The elements of these slices; none where a dimension has no slice.
std::optional<Box> box_of(const std::vector<std::optional<Slice>>& slices, const Shape& strides);

Shape dense(const Shape& shape, std::int64_t itemsize);

}  // namespace hocket::net
