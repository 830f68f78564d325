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
    // The cost of short blocks grows with their number: a core waits for memory, however early it
    // prefetches, because it supports few outstanding lines. Only the hardware prefetcher of a
    // cache has more, along rows.
    return block <= 512 ? 1.3 + 150.0 / bytes : 0.65 + 720.0 / (bytes + 130.0);
}

bool fits_cache(const Permutation& permutation) {
    return permutation.batch * permutation.blocks() * permutation.block <=
           least_streamed_bytes() / 2;
}

double buffered(std::int64_t bytes) {
    const double caches =
        2.0 * static_cast<double>(bytes) / static_cast<double>(least_streamed_bytes());
    if (caches < 0.12) return 1.0 + 0.4 * caches;
    if (caches < 0.4) return 1.05 + 1.5 * (caches - 0.12);
    if (caches < 1.0) return 1.47 + 2.4 * (caches - 0.4);
    return 2.9 + 1.3 * std::log2(caches);
}

double ringed(std::int64_t bytes) {
    return 0.98 + static_cast<double>(bytes) / static_cast<double>(least_streamed_bytes());
}

double transposed_tiles(std::int64_t unit, std::int64_t side) {
    const double row = static_cast<double>(side * unit), bytes = row * static_cast<double>(side);
    return 0.72 + 250.0 / row + 0.2 * bytes / (1 << 20) + 0.8 / static_cast<double>(unit);
}

double transposed_blocks(std::int64_t bytes) {
    return 0.8 + 0.5 * static_cast<double>(bytes) / (1 << 20);
}

double swapped_tiles(bool held) {
    return held ? 1.03 : 1.4;
}

}  // namespace hocket::kernel
