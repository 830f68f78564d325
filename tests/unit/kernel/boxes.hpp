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
    for (auto& byte : bytes) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        byte = static_cast<std::byte>(state >> 56);
    }
    return bytes;
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
    Extents index(extents.size());
    for (;;) {
        std::int64_t s = from.first, d = to.first;
        for (std::size_t k = 0; k < index.size(); ++k) {
            s += index[k] * from.strides[k];
            d += index[k] * to.strides[k];
        }
        if (s < 0 || s + itemsize > from.bytes || d < 0 || d + itemsize > to.bytes)
            throw std::out_of_range("the test's own strides leave its memory");
        std::memcpy(destination.data() + d, source.data() + s, static_cast<std::size_t>(itemsize));
        std::size_t k = index.size();
        while (k > 0 && ++index[k - 1] == extents[k - 1]) index[--k] = 0;
        if (k == 0) return;
    }
}

}  // namespace hocket::testing
