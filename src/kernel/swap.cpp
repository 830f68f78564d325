// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/swap.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/pool.hpp"

namespace hocket::kernel {
namespace {

// A block that stays in the first-level cache during a swap.
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

void swap(std::byte* a, std::byte* b, Runs runs, std::int64_t first, std::int64_t last,
          int threads) {
    const auto run = [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t row = begin / runs.run, inside = begin % runs.run;
            const std::int64_t at = row * runs.pitch + inside;
            const std::int64_t now = std::min(end - begin, runs.run - inside);
            swap_part(a + at, b + at, now);
            begin += now;
        }
    };
    const std::int64_t bytes = last - first;
    const std::int64_t parts =
        std::clamp<std::int64_t>(bytes / least_part, 1, std::max(threads, 1));
    if (parts == 1) return run(first, last);
    const std::int64_t each = base::ceil_div(base::ceil_div(bytes, parts), block) * block;
    base::parallel_for(threads, parts, [&](std::int64_t part) {
        run(std::min(first + part * each, last), std::min(first + (part + 1) * each, last));
    });
}

}  // namespace hocket::kernel
