// SPDX-License-Identifier: BSD-3-Clause
// Strided boxes in guarded memory, for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace hocket::testing {

using Extents = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

inline std::int64_t draw(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

inline Bytes random_bytes(std::mt19937_64& random, std::int64_t count) {
    Bytes bytes(static_cast<std::size_t>(count));
    std::uint64_t state = random() | 1;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof state) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const std::uint64_t word = state ^ state >> 32;  // the low bits alone repeat soon
        std::memcpy(&bytes[at], &word, std::min(sizeof word, bytes.size() - at));
    }
    return bytes;
}

/// As `==`, which compares byte by byte.
inline bool same(const Bytes& a, const Bytes& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// A strided view and the memory it lies in.
struct Place {
    Extents strides;         // bytes
    std::int64_t first = 0;  // offset of element (0, …, 0)
    std::int64_t bytes = 0;  // size of the memory
};

/// A view of these extents with its dimensions in random memory order, with random gaps, some
/// dimensions backwards and, where `repeats`, some with stride 0.
inline Place random_place(std::mt19937_64& random, const Extents& extents, std::int64_t itemsize,
                          bool gaps, bool repeats) {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (draw(random, 0, 3) > 0) std::shuffle(order.begin(), order.end(), random);
    Place place{.strides = Extents(extents.size()), .first = draw(random, 0, 70)};
    std::int64_t step = itemsize;
    for (std::size_t k = order.size(); k-- > 0;) {
        const std::size_t d = order[k];
        if (gaps && draw(random, 0, 2) == 0) step += draw(random, 1, 2 * itemsize + 3);
        place.strides[d] = step;
        if (repeats && draw(random, 0, 9) == 0) {
            place.strides[d] = 0;
            continue;
        }
        const std::int64_t span = step * std::max<std::int64_t>(extents[d], 1);
        if (gaps && draw(random, 0, 4) == 0 && extents[d] > 0) {
            place.first += step * (extents[d] - 1);
            place.strides[d] = -step;
        }
        step = span;
    }
    // Backwards dimensions reach down from `first` by at most what was added to it.
    place.bytes = place.first + step + 70;
    return place;
}

/// The definition: element by element.
inline void naive_copy(const Extents& extents, std::int64_t itemsize, const Bytes& source,
                       const Place& from, Bytes& destination, const Place& to) {
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
    const auto outer = extents.empty() ? 0 : extents.size() - 1;
    const std::int64_t row = extents.empty() ? 1 : extents[outer];
    const std::int64_t source_step = extents.empty() ? 0 : from.strides[outer];
    const std::int64_t step = extents.empty() ? 0 : to.strides[outer];
    const auto leaves = [&](std::int64_t first, std::int64_t apart, const Place& place) {
        const std::int64_t last = first + (row - 1) * apart;
        return std::min(first, last) < 0 || std::max(first, last) + itemsize > place.bytes;
    };
    Extents index(outer);
    for (;;) {
        std::int64_t s = from.first, d = to.first;
        for (std::size_t k = 0; k < outer; ++k) {
            s += index[k] * from.strides[k];
            d += index[k] * to.strides[k];
        }
        if (leaves(s, source_step, from) || leaves(d, step, to))
            throw std::out_of_range("the test's own strides leave its memory");
        for (std::int64_t i = 0; i < row; ++i)
            std::memcpy(destination.data() + d + i * step, source.data() + s + i * source_step,
                        static_cast<std::size_t>(itemsize));
        std::size_t k = outer;
        while (k > 0 && ++index[k - 1] == extents[k - 1]) index[--k] = 0;
        if (k == 0) return;
    }
}

/// Whether `transpose` makes a matrix of `unit` bytes a number its transpose, in place, and keeps
/// the memory around it.
template <class Transpose>
bool transposes(std::int64_t rows, std::int64_t columns, std::int64_t unit, Transpose&& transpose) {
    constexpr std::int64_t guard = 128;
    std::mt19937_64 random(5);
    Bytes array = random_bytes(random, rows * columns * unit + 2 * guard);
    const Bytes before = array;
    Bytes expected = array;
    const auto all = static_cast<std::int64_t>(array.size());
    naive_copy({columns, rows}, unit, before, {{unit, columns * unit}, guard, all}, expected,
               {{rows * unit, unit}, guard, all});
    transpose(array.data() + guard);
    return same(array, expected);
}

}  // namespace hocket::testing
