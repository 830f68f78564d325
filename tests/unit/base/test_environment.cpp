// SPDX-License-Identifier: BSD-3-Clause
// Settings from the environment.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace {

namespace environment = hocket::environment;
constexpr const char* name = "HOCKET_TEST_SETTING";

void set(const char* value) {
    setenv(name, value, 1);
}

template <class Read>
void expect_refused(const char* value, Read read) {
    set(value);
    try {
        read();
        ADD_FAILURE() << "accepted '" << value << "'";
    } catch (const hocket::Error& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find(name), std::string::npos) << message;
        EXPECT_NE(message.find(std::string("'") + value + "'"), std::string::npos) << message;
    }
}

TEST(Environment, unset_and_empty_are_nothing) {
    unsetenv(name);
    EXPECT_FALSE(environment::value_of(name));
    EXPECT_FALSE(environment::bytes(name));
    set("");
    EXPECT_FALSE(environment::value_of(name));
    EXPECT_FALSE(environment::number(name, 0, 9, "a digit"));
    EXPECT_FALSE(environment::numbers(name));
}

TEST(Environment, bytes_come_in_units_of_1024) {
    constexpr std::int64_t kibi = 1024;
    const std::pair<const char*, std::int64_t> cases[] = {
        {"0", 0},
        {"1", 1},
        {"65536", 65536},
        {"64K", 64 * kibi},
        {"64 KiB", 65536},
        {"64kB", 65536},
        {"3B", 3},
        {"1M", kibi * kibi},
        {"1.5G", 3 * kibi * kibi * kibi / 2},
        {" 2T ", 2 * kibi * kibi * kibi * kibi},
    };
    for (const auto& [text, expected] : cases) {
        set(text);
        EXPECT_EQ(environment::bytes(name), expected) << text;
    }
    for (const char* wrong : {"lots", "-1", "-1G", "1X", "1GG", "G", "1 2", "nan", "inf", "1e9",
                              "9999999999999G", "0x10"})
        expect_refused(wrong, [] { environment::bytes(name); });
}

TEST(Environment, numbers_lie_in_their_range) {
    set("7");
    EXPECT_EQ(environment::number(name, 1, 9, "a count"), 7);
    set(" 9 ");
    EXPECT_EQ(environment::number(name, 1, 9, "a count"), 9);
    for (const char* wrong : {"0", "10", "seven", "7x", "1.5", "99999999999999999999"})
        expect_refused(wrong, [] { environment::number(name, 1, 9, "a count"); });
}

TEST(Environment, lists_of_numbers) {
    set("0, 0,1,1");
    EXPECT_EQ(environment::numbers(name), (std::vector<std::int64_t>{0, 0, 1, 1}));
    for (const char* wrong : {"0,,1", "0,1,", "a,b", "0;1"})
        expect_refused(wrong, [] { environment::numbers(name); });
}

TEST(Text, whole_numbers_are_nothing_besides) {
    EXPECT_EQ(hocket::text::whole_number("-12"), -12);
    for (const char* wrong : {"", " 1", "1 ", "+1", "1.0", "9223372036854775808"})
        EXPECT_FALSE(hocket::text::whole_number(wrong)) << wrong;
}

}  // namespace
