// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/remainder.hpp"

#include "hocket/kernel.hpp"

namespace hocket::kernel {

using Extents = std::vector<std::int64_t>;

std::int64_t Remainder::bytes() const {
    return permutation.batch * permutation.blocks() / permutation.extents[dimension] * count *
           permutation.block;
}

void Remainder::save(const std::byte* array, std::byte* buffer, int threads) const {
    const auto [extents, inside, packed] = strides(false);
    Copy(extents, permutation.block, inside, packed)
        .run(array + offset(inside), buffer, threads, Stores::cached);
}

void Remainder::restore(std::byte* array, const std::byte* buffer, int threads) const {
    const auto [extents, inside, packed] = strides(true);
    Copy(extents, permutation.block, packed, inside)
        .run(buffer, array + offset(inside), threads, Stores::cached);
}

Remainder::Strides Remainder::strides(bool permuted) const {
    const std::int64_t block = permutation.block;
    Strides out;
    out.extents = {permutation.batch};
    out.extents.insert(out.extents.end(), permutation.extents.begin(), permutation.extents.end());
    Extents natural = dense_strides(out.extents, block);
    if (permuted) {
        const Extents result = dense_strides(permutation.result(), block);
        for (std::size_t k = 0; k < result.size(); ++k)
            natural[permutation.axes[k] + 1] = result[k];
    }
    out.inside = std::move(natural);
    out.extents[dimension + 1] = count;
    out.packed = dense_strides(out.extents, block);
    return out;
}

}  // namespace hocket::kernel
