// SPDX-License-Identifier: BSD-3-Clause
// A pass that permutes groups of rows, which a cache holds, through a buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "kernel/costs.hpp"
#include "kernel/fetch.hpp"

namespace hocket::kernel {

/// A box of the array: strides in bytes.
struct StridedBox {
    std::vector<std::int64_t> extents, strides;

    void add(std::int64_t extent, std::int64_t stride) {
        extents.push_back(extent);
        strides.push_back(stride);
    }
    std::int64_t count() const {
        return std::accumulate(extents.begin(), extents.end(), std::int64_t{1},
                               std::multiplies<>());
    }
    std::int64_t offset(std::int64_t index) const {
        std::int64_t sum = 0;
        for (std::size_t d = extents.size(); d-- > 0; index /= extents[d])
            sum += index % extents[d] * strides[d];
        return sum;
    }
};

/// The pass: `all` groups of rows, each of `run` bytes, become `ordered` units one after another. A
/// row takes as many whole blocks as the others; or, if there are `parts`, an equal part of each of
/// so many blocks. The slowest dimensions of `ordered` are those of `rows`.
struct Groups {
    StridedBox all{}, rows{}, parts{}, ordered{};
    std::int64_t run = 0, unit = 0, part = 0;

    std::int64_t count() const { return rows.count() * parts.count(); }
    std::int64_t bytes() const { return count() * run; }
    /// The buffers of all threads, a copy's stage in each, and the rows' places.
    std::int64_t memory(int threads) const {
        return threads * (bytes() + (256 << 10)) + 8 * count();
    }
    /// The cost of copies beside those of rows, if more than a matrix or parts of blocks move.
    double cost_of_copies() const;
    void permute(std::byte* array, bool gathers, int threads) const;

  private:
    using Offsets = std::vector<std::int64_t>;
    void copy_rows(std::byte* group, const Offsets& starts, std::byte* buffer, bool to_rows,
                   int threads, Prefetcher& ahead) const;
};

}  // namespace hocket::kernel
