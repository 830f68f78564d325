// SPDX-License-Identifier: BSD-3-Clause
// The remainder of a dimension that a pass cannot handle: a buffer holds it meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// Copies some indices of one dimension out of the array, or back into the permuted one.
struct Remainder {
    const Permutation& permutation;
    std::size_t dimension;
    std::int64_t first, count;  // indices

    std::int64_t bytes() const;
    void save(const std::byte* array, std::byte* buffer, int threads) const;
    void restore(std::byte* array, const std::byte* buffer, int threads) const;

  private:
    struct Strides {
        std::vector<std::int64_t> extents, inside, packed;
    };
    /// For the batch and each dimension in source order; `packed` is dense in that order.
    Strides strides(bool permuted) const;
    std::int64_t offset(const std::vector<std::int64_t>& inside) const {
        return first * inside[dimension + 1];
    }
};

}  // namespace hocket::kernel
