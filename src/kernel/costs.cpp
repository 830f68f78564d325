// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/costs.hpp"

#include <algorithm>
#include <cmath>

#include "kernel/stream.hpp"

namespace hocket::kernel {

std::string size_text(std::int64_t bytes) {
    if (bytes < 10240) return std::to_string(bytes) + " bytes";
    return std::to_string((bytes + 512) / 1024) + " KiB";
}

double scattered(std::int64_t block, bool cached) {
    const double bytes = static_cast<double>(block);
    if (cached) return 1.0 + 45.0 / bytes;
    // Short ones cost by their number, longer ones by what memory takes to begin at another place.
    return std::max(1.0 + 90.0 / bytes, 0.8 + 420.0 / (bytes + 120.0));
}

bool fits_cache(const Permutation& permutation) {
    return permutation.batch * permutation.blocks() * permutation.block <=
           least_streamed_bytes() / 2;
}

double buffered(std::int64_t bytes) {
    const double caches =
        2.0 * static_cast<double>(bytes) / static_cast<double>(least_streamed_bytes());
    if (caches < 0.45) return 1.0 + 0.65 * caches;
    if (caches < 1.0) return 1.3 + 2.6 * (caches - 0.45);
    return 2.7 + 1.3 * std::log2(caches);
}

double turned_tiles(std::int64_t row) {
    constexpr double long_row = 320.0;
    const double bytes = static_cast<double>(row);
    return 0.8 + 4.0 / bytes + (row % 64 == 0 ? 0.0 : 0.1) +
           std::clamp(0.2 * std::log2(bytes / long_row), 0.0, 0.3);
}

}  // namespace hocket::kernel
