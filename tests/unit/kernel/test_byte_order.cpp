// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a machine of the other byte order: each is reversed alone, wherever it lies.
#include <gtest/gtest.h>

#include <algorithm>

#include "boxes.hpp"
#include "kernel/byte_order.hpp"

namespace {

using namespace hocket::testing;

TEST(ByteOrder, ReversesEachNumber) {
    std::mt19937_64 random(7);
    for (const std::int64_t number : {1, 2, 3, 4, 8, 16}) {
        for (const std::int64_t count : {0, 1, 7, 64, 1001}) {
            for (std::int64_t off = 0; off < 3; ++off) {
                Bytes all = random_bytes(random, off + count * number + 5), wanted = all;
                for (auto at = wanted.begin() + off; at < wanted.end() - 5; at += number)
                    std::reverse(at, at + number);
                hocket::kernel::reverse_numbers(all.data() + off, count * number, number);
                EXPECT_EQ(all, wanted) << count << " numbers of " << number << " bytes";
            }
        }
    }
}

}  // namespace
