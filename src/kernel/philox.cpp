// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>

#include "hocket/error.hpp"
#include "hocket/random.hpp"

namespace hocket {
namespace {

using Counter = std::array<std::uint32_t, 4>;

Counter rounds(Counter c, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c[2];
        c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(a)};
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    return c;
}

}  // namespace

void philox(std::uint64_t seed, std::span<const std::int64_t> numbers,
            std::span<std::uint64_t> words) {
    if (words.size() != 2 * numbers.size())
        throw Error("there are " + std::to_string(words.size()) + " words for " +
                    std::to_string(numbers.size()) + " elements; give two for each");
    const auto key0 = static_cast<std::uint32_t>(seed),
               key1 = static_cast<std::uint32_t>(seed >> 32);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const auto number = static_cast<std::uint64_t>(numbers[k]);
        const Counter c = rounds(
            {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), 0, 0},
            key0, key1);
        words[2 * k] = c[0] | std::uint64_t{c[1]} << 32;
        words[2 * k + 1] = c[2] | std::uint64_t{c[3]} << 32;
    }
}

}  // namespace hocket
