// SPDX-License-Identifier: BSD-3-Clause
// Types of elements between jobs whose machines store numbers in different byte orders.
#include <gtest/gtest.h>

#include "task/byte_order.hpp"

namespace hocket::task {
namespace {

TEST(NumberBytes, FollowTheName) {
    EXPECT_EQ(number_bytes("bool", 1), 1);
    EXPECT_EQ(number_bytes("uint16", 2), 2);
    EXPECT_EQ(number_bytes("float64", 8), 8);
    EXPECT_EQ(number_bytes("complex64", 8), 4);
    EXPECT_EQ(number_bytes("complex128", 16), 8);
    EXPECT_EQ(number_bytes("'>f8'", 8), 1);
    EXPECT_EQ(number_bytes("'|V6'", 6), 1);
    EXPECT_EQ(number_bytes("[('a', '<i4'), ('b', '<f8')]", 12), 1);
}

TEST(NumberBytes, UnknownTypesAreRefusedByName) {
    EXPECT_EQ(number_bytes("float128", 16), 0);
    EXPECT_EQ(number_bytes("float64", 16), 0);
    EXPECT_EQ(number_bytes("particle", 24), 0);
    EXPECT_EQ(number_bytes("", 0), 0);
    EXPECT_FALSE(fault_in_type({"int32", 4}));
    EXPECT_NE(fault_in_type({"particle", 24}).message.find("particle, of 24 bytes"),
              std::string::npos);
}

}  // namespace
}  // namespace hocket::task
