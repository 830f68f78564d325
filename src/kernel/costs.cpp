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
    // Short ones cost by their number. Below some 2 KiB a core waits for memory however early it
    // asks (it has few lines on their way, but for those that a cache fetches by itself along
    // rows).
    return std::max(1.0 + 90.0 / bytes, 0.93 + 420.0 / (bytes + 120.0));
}

bool fits_cache(const Permutation& permutation) {
    return permutation.batch * permutation.blocks() * permutation.block <=
           least_streamed_bytes() / 2;
}

double buffered(std::int64_t bytes) {
    const double caches =
        2.0 * static_cast<double>(bytes) / static_cast<double>(least_streamed_bytes());
    if (caches < 0.3) return 1.15 + 0.5 * caches;
    if (caches < 1.0) return 1.3 + 2.2 * (caches - 0.3);
    return 2.84 + 1.3 * std::log2(caches);
}

double turned_tiles(std::int64_t row) {
    const double bytes = static_cast<double>(row);
    return 1.05 + 4.0 / bytes + (row % 64 == 0 ? 0.0 : 0.05);
}

}  // namespace hocket::kernel
