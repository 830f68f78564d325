// SPDX-License-Identifier: BSD-3-Clause
// Conversions of numbers. The tests of stores hold every pair of types against NumPy.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "kernel/convert.hpp"

namespace hocket::kernel {
namespace {

template <class To, class From>
std::vector<To> converted(const char* from, const std::vector<From>& source, const char* to) {
    std::vector<To> out(source.size());
    convert(from, reinterpret_cast<const std::byte*>(source.data()), to,
            reinterpret_cast<std::byte*>(out.data()), static_cast<std::int64_t>(source.size()));
    return out;
}

TEST(Convert, KnowsNumbersOnly) {
    EXPECT_TRUE(converts("float16", "complex64"));
    EXPECT_FALSE(converts("|V3", "int8"));
    EXPECT_FALSE(converts("int8", "float128"));
}

TEST(Convert, RoundsHalvesToEven) {
    const std::vector<double> numbers{0,     -0.0,        1,           65504,         65519.9,
                                      65520, 0x1p-24,     0x1p-25,     0x1.8p-24,     0x1.ffcp-15,
                                      2049,  0x1.ffep-15, 1 + 0x1p-11, 1 + 0x1.8p-10, -INFINITY};
    const std::vector<std::uint16_t> bits{0, 0x8000, 0x3c00, 0x7bff, 0x7bff, 0x7c00, 1,     0,
                                          2, 0x0400, 0x6800, 0x0400, 0x3c00, 0x3c02, 0xfc00};
    EXPECT_EQ((converted<std::uint16_t>("float64", numbers, "float16")), bits);
}

TEST(Convert, GivesEveryHalfBack) {
    std::vector<std::uint16_t> halves;
    for (int bits = 0; bits < 0x10000; ++bits)
        if ((bits & 0x7c00) != 0x7c00 || (bits & 0x3ff) == 0)
            halves.push_back(static_cast<std::uint16_t>(bits));
    const auto numbers = converted<float>("float16", halves, "float32");
    EXPECT_EQ((converted<std::uint16_t>("float32", numbers, "float16")), halves);
    EXPECT_EQ(numbers[0x3555], 0.333251953125F);
}

TEST(Convert, KeepsIntegersThatADoubleDoesNotHave) {
    const std::vector<std::int64_t> numbers{INT64_MAX, INT64_MIN, (std::int64_t{1} << 53) + 1, -1};
    EXPECT_EQ((converted<std::int64_t>("int64", numbers, "int64")), numbers);
    EXPECT_EQ((converted<std::uint64_t>("int64", numbers, "uint64")[3]), UINT64_MAX);
    // Rounded once.
    const std::vector<std::int64_t> wide{(std::int64_t{1} << 61) + (std::int64_t{1} << 37) + 1};
    EXPECT_EQ((converted<float>("int64", wide, "float32")[0]), 0x1p61F + 0x1p38F);
}

TEST(Convert, HasNoUndefinedIntegers) {
    const std::vector<double> numbers{NAN, INFINITY, -1e300, 1e19, -1.5};
    EXPECT_EQ((converted<std::uint64_t>("float64", numbers, "uint64")[3]), 10000000000000000000U);
    EXPECT_EQ((converted<std::int8_t>("float64", numbers, "int8")[4]), -1);
}

TEST(Convert, TakesAnyByteButZeroForTrue) {
    const std::vector<std::uint8_t> bytes{0, 1, 2, 255};
    EXPECT_EQ((converted<std::int16_t>("bool", bytes, "int16")),
              (std::vector<std::int16_t>{0, 1, 1, 1}));
}

TEST(Convert, ComplexNumbersAreTrueIfAPartIs) {
    const std::vector<std::complex<float>> numbers{{0, 0}, {0, 1}, {2, 0}};
    EXPECT_EQ((converted<std::uint8_t>("complex64", numbers, "bool")),
              (std::vector<std::uint8_t>{0, 1, 1}));
    EXPECT_EQ((converted<double>("complex64", numbers, "float64")), (std::vector<double>{0, 0, 2}));
}

}  // namespace
}  // namespace hocket::kernel
