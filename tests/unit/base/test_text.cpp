// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "base/numbering.hpp"
#include "base/text.hpp"

using hocket::text::is_utf8;

TEST(Text, KnowsUtf8) {
    for (const char* text :
         {"", "t", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8E\xB5", "\xF4\x8F\xBF\xBF"})
        EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_TRUE(is_utf8(std::string(1, '\0')));
    // Cut off, out of order, longer than necessary, surrogates, beyond the last character.
    for (const char* text :
         {"\xFF", "\xC3", "\x80", "a\xE2\x82", "\xC3\xC3", "\xC0\x80", "\xE0\x80\x80",
          "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80"})
        EXPECT_FALSE(is_utf8(text));
}

TEST(Text, CountsFromTheFirstIndexOfACall) {
    using hocket::text::number;
    const std::int64_t last = std::numeric_limits<std::int64_t>::max();
    {
        const hocket::text::FirstIndex counting(1);
        EXPECT_EQ(number(std::int64_t{4}), "5");
        EXPECT_EQ(number(last), "-9223372036854775808");
        {
            const hocket::text::FirstIndex inner(0);
            EXPECT_EQ(number(last), "9223372036854775807");
        }
        EXPECT_EQ(hocket::text::numbers(std::array<std::int64_t, 2>{0, last}),
                  "(1, -9223372036854775808)");
    }
    EXPECT_EQ(number(std::int64_t{4}), "4");
}
