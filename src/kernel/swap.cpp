// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/swap.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/pool.hpp"

namespace hocket::kernel {
namespace {

// A block that stays in the first-level cache while it changes sides.
constexpr std::int64_t block = 8 << 10;
constexpr std::int64_t least_part = std::int64_t{1} << 20;

void swap_part(std::byte* a, std::byte* b, std::int64_t bytes) {
    alignas(64) std::byte held[block];
    for (std::int64_t done = 0; done < bytes; done += block) {
        const auto now = static_cast<std::size_t>(std::min(block, bytes - done));
        std::memcpy(held, a + done, now);
        std::memcpy(a + done, b + done, now);
        std::memcpy(b + done, held, now);
    }
}

}  // namespace

void swap(std::byte* a, std::byte* b, std::int64_t bytes, int threads) {
    const std::int64_t parts =
        std::clamp<std::int64_t>(bytes / least_part, 1, std::max(threads, 1));
    if (parts == 1) return swap_part(a, b, bytes);
    const std::int64_t each = base::ceil_div(base::ceil_div(bytes, parts), block) * block;
    base::parallel_for(threads, parts, [&](std::int64_t part) {
        const std::int64_t first = std::min(part * each, bytes);
        swap_part(a + first, b + first, std::min(each, bytes - first));
    });
}

}  // namespace hocket::kernel
