// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/costs.hpp"

#include <cmath>

#include "kernel/stream.hpp"

namespace hocket::kernel {

std::string size_text(std::int64_t bytes) {
    if (bytes < 10240) return std::to_string(bytes) + " bytes";
    return std::to_string((bytes + 512) / 1024) + " KiB";
}

double scattered(std::int64_t block, bool cached) {
    return 1.0 + (cached ? 45.0 : 90.0) / static_cast<double>(block);
}

bool fits_cache(const Permutation& permutation) {
    return permutation.batch * permutation.blocks() * permutation.block <=
           least_streamed_bytes() / 2;
}

double buffered(std::int64_t bytes) {
    const double caches =
        2.0 * static_cast<double>(bytes) / static_cast<double>(least_streamed_bytes());
    if (caches < 0.2) return 1.0;
    if (caches < 0.75) return 1.0 + 0.9 * (caches - 0.2);
    return 1.5 + 0.35 * std::log2(caches / 0.75);
}

double turned_tiles(std::int64_t row) {
    constexpr double long_row = 320.0;
    const double bytes = static_cast<double>(row);
    return 0.8 + 4.0 / bytes + (row % 64 == 0 ? 0.0 : 0.1) +
           (bytes > long_row ? 0.15 * std::log2(bytes / long_row) : 0.0);
}

}  // namespace hocket::kernel
