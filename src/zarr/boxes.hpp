// SPDX-License-Identifier: BSD-3-Clause
// Boxes of indices, and the regular grid of tiles that they intersect.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "hocket/layout.hpp"

namespace hocket::zarr {

inline IndexBox whole_of(const Shape& shape) {
    return {Shape(shape.size(), 0), shape};
}

inline bool is_empty(const IndexBox& box) {
    for (std::size_t d = 0; d < box.start.size(); ++d)
        if (box.start[d] >= box.stop[d]) return true;
    return false;
}

inline IndexBox common(const IndexBox& a, const IndexBox& b) {
    IndexBox out = a;
    for (std::size_t d = 0; d < a.start.size(); ++d) {
        out.start[d] = std::max(a.start[d], b.start[d]);
        out.stop[d] = std::min(a.stop[d], b.stop[d]);
    }
    return out;
}

inline bool covers(const IndexBox& outer, const IndexBox& inner) {
    for (std::size_t d = 0; d < outer.start.size(); ++d)
        if (inner.start[d] < outer.start[d] || inner.stop[d] > outer.stop[d]) return false;
    return true;
}

inline Shape extents_of(const IndexBox& box) {
    Shape out = box.stop;
    for (std::size_t d = 0; d < out.size(); ++d)
        out[d] = std::max<std::int64_t>(0, out[d] - box.start[d]);
    return out;
}

inline std::int64_t product_of(const Shape& extents) {
    std::int64_t out = 1;
    for (const std::int64_t extent : extents) out *= extent;
    return out;
}

/// `box` moved by -origin.
inline IndexBox relative(const IndexBox& box, const Shape& origin) {
    IndexBox out = box;
    for (std::size_t d = 0; d < origin.size(); ++d) {
        out.start[d] -= origin[d];
        out.stop[d] -= origin[d];
    }
    return out;
}

/// The tile of these extents at this position of the grid.
inline IndexBox tile_at(std::span<const std::int64_t> index, const Shape& tile) {
    IndexBox out{Shape(index.begin(), index.end()), Shape(index.begin(), index.end())};
    for (std::size_t d = 0; d < tile.size(); ++d) {
        out.start[d] *= tile[d];
        out.stop[d] = out.start[d] + tile[d];
    }
    return out;
}

/// The range of tiles that a non-empty box intersects, as a box of the grid.
inline IndexBox tiles_of(const IndexBox& box, const Shape& tile) {
    IndexBox out = box;
    for (std::size_t d = 0; d < tile.size(); ++d) {
        out.start[d] = box.start[d] / tile[d];
        out.stop[d] = (box.stop[d] - 1) / tile[d] + 1;
    }
    return out;
}

/// The index with row-major number `number` in a box.
inline Shape index_in(const IndexBox& box, std::int64_t number) {
    Shape out = box.start;
    for (std::size_t d = out.size(); d-- > 0;) {
        const std::int64_t extent = box.stop[d] - box.start[d];
        out[d] += number % extent;
        number /= extent;
    }
    return out;
}

inline std::int64_t row_major(const Shape& index, const Shape& extents) {
    std::int64_t out = 0;
    for (std::size_t d = 0; d < index.size(); ++d) out = out * extents[d] + index[d];
    return out;
}

}  // namespace hocket::zarr
