// SPDX-License-Identifier: BSD-3-Clause
// Streamed copies of every length at which they go another way, and of ends that are no lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/stream.hpp"

namespace hocket::kernel {
namespace {

void check_copies(StreamCopy stream) {
    constexpr std::int64_t abreast = 4 * 4096, room = 5 * abreast, before = 64, after = 64;
    std::vector<std::byte> source(room + 2 * before);
    for (std::size_t i = 0; i < source.size(); ++i)
        source[i] = static_cast<std::byte>(1 + (i * 7 + i / 251) % 250);
    for (const std::int64_t bytes :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{63}, std::int64_t{64}, std::int64_t{4097},
          abreast - 1, abreast, abreast + 63, abreast + 64, 2 * abreast + 4096, 3 * abreast + 5})
        for (const std::int64_t to : {0, 1, 16, 63, 4000})
            for (const std::int64_t from : {0, 5}) {
                std::vector<std::byte> destination(room + before + after, std::byte{0});
                stream(destination.data() + before + to, source.data() + from, bytes);
                stream_fence();
                const auto first = destination.begin() + before + to;
                EXPECT_TRUE(std::equal(first, first + bytes, source.begin() + from))
                    << bytes << " bytes from " << from << " to " << to;
                EXPECT_EQ(std::count(destination.begin(), destination.end(), std::byte{0}),
                          static_cast<std::int64_t>(destination.size()) - bytes);
            }
}

TEST(Stream, CopiesAllBytesAndNoOther) {
    check_copies(select_stream_copy());
}

TEST(Stream, OrdinaryStoresDoSo) {
    check_copies(copy_cached);
}

}  // namespace
}  // namespace hocket::kernel
