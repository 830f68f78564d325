// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/accumulator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace hocket::exact {
namespace {

constexpr std::int64_t flag_nan = 1, flag_plus = 2, flag_minus = 4;
constexpr int most_chunks = 136;

struct Parts {
    bool negative;
    int exponent;  // of the last bit of the mantissa
    std::uint64_t mantissa;
};

Parts parts_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const std::uint64_t hidden = field == 0 ? 0 : std::uint64_t{1} << 52;
    return {bits >> 63 != 0, std::max(field, 1) - 1075, fraction | hidden};
}

void add_special(std::int64_t* accumulator, double value) {
    accumulator[0] |= std::isnan(value) ? flag_nan : value > 0 ? flag_plus : flag_minus;
}

__extension__ using Wide = unsigned __int128;

// Adds wide * 2^exponent; at most 106 bits. Bits below the lowest chunk are zero in every term.
void add_wide(std::int64_t* accumulator, const Range& range, bool negative, Wide wide,
              int exponent) {
    int shift = exponent - range.lowest;
    if (shift < 0) {
        wide >>= std::min(-shift, 127);
        shift = 0;
    }
    std::int64_t* chunk = accumulator + 1 + shift / 32;
    const int bits = shift % 32;
    // The lowest chunk takes 32 - bits, so that the rest fits 128 bits.
    std::uint64_t piece = static_cast<std::uint64_t>(wide << bits) & 0xffffffffU;
    wide >>= 32 - bits;
    for (;;) {
        *chunk += negative ? -static_cast<std::int64_t>(piece) : static_cast<std::int64_t>(piece);
        if (wide == 0) break;
        ++chunk;
        piece = static_cast<std::uint64_t>(wide) & 0xffffffffU;
        wide >>= 32;
    }
}

// The mantissa's bits from `first` on, at most 64, of chunks in [0, 2^32).
std::uint64_t bits_from(const std::int64_t* chunks, int count, int first) {
    std::uint64_t found = 0;
    for (int k = 0; k < 3; ++k) {
        const int chunk = first / 32 + k;
        if (chunk >= count) break;
        const auto value = static_cast<Wide>(static_cast<std::uint64_t>(chunks[chunk]));
        const int at = 32 * k - first % 32;
        found |= static_cast<std::uint64_t>(at >= 0 ? value << at : value >> -at);
    }
    return found;
}

bool any_below(const std::int64_t* chunks, int first) {
    for (int k = 0; k < first / 32; ++k)
        if (chunks[k] != 0) return true;
    const auto mask = (std::int64_t{1} << first % 32) - 1;
    return (chunks[first / 32] & mask) != 0;
}

struct Precision {
    int bits, least, most;  // of the mantissa; exponents of the last bit and of the first
};
Precision precision_of(Number number) {
    switch (number) {
        case Number::float16:
            return {11, -24, 15};
        case Number::float32:
            return {24, -149, 127};
        case Number::float64:
            break;
    }
    return {53, -1074, 1023};
}

}  // namespace

Range range_of(Number number, bool products) {
    const auto [bits, least, most] = precision_of(number);
    static_cast<void>(bits);
    const int factor = products ? 2 : 1;
    const int range = factor * (most + 1 - least) + 64;  // 2^62 terms, and a sign
    return {factor * least, range / 32 + 2};
}

void add_number(std::int64_t* accumulator, const Range& range, double value) {
    const auto [negative, exponent, mantissa] = parts_of(value);
    if (!std::isfinite(value)) return add_special(accumulator, value);
    if (mantissa != 0) add_wide(accumulator, range, negative, mantissa, exponent);
}

void add_product(std::int64_t* accumulator, const Range& range, double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return add_special(accumulator, x * y);
    const auto a = parts_of(x), b = parts_of(y);
    if (a.mantissa == 0 || b.mantissa == 0) return;
    add_wide(accumulator, range, a.negative != b.negative,
             static_cast<Wide>(a.mantissa) * b.mantissa, a.exponent + b.exponent);
}

void carry(std::int64_t* accumulator, const Range& range) {
    std::int64_t* chunk = accumulator + 1;
    for (int k = 0; k + 1 < range.chunks; ++k) {
        const std::int64_t over = chunk[k] >> 32;  // towards minus infinity
        chunk[k] -= over * (std::int64_t{1} << 32);
        chunk[k + 1] += over;
    }
}

double rounded(const std::int64_t* accumulator, const Range& range, Number number) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::int64_t flags = accumulator[0];
    if ((flags & flag_nan) != 0 || (flags & (flag_plus | flag_minus)) == (flag_plus | flag_minus))
        return std::numeric_limits<double>::quiet_NaN();
    if (flags != 0) return (flags & flag_plus) != 0 ? infinity : -infinity;

    std::array<std::int64_t, most_chunks + 1> copy{};
    std::copy_n(accumulator, range.words(), copy.begin());
    carry(copy.data(), range);
    std::int64_t* chunks = copy.data() + 1;
    const bool negative = chunks[range.chunks - 1] < 0;
    if (negative) {
        for (int k = 0; k < range.chunks; ++k) chunks[k] = -chunks[k];
        carry(copy.data(), range);
    }
    int top = range.chunks - 1;
    while (top >= 0 && chunks[top] == 0) --top;
    if (top < 0) return 0;
    const auto width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(chunks[top])));
    const int first = range.lowest + 32 * top + width - 1;  // the exponent of the leading bit

    const auto [bits, least, most] = precision_of(number);
    const int last = std::max(first - bits + 1, least);
    const int position = last - range.lowest;  // of the last bit that remains
    std::uint64_t kept = 0;
    if (position <= 0) {
        kept = bits_from(chunks, range.chunks, 0) << -position;
    } else {
        kept = first >= last ? bits_from(chunks, range.chunks, position) : 0;
        const bool half = (bits_from(chunks, range.chunks, position - 1) & 1) != 0;
        if (half && ((kept & 1) != 0 || any_below(chunks, position - 1))) ++kept;
    }
    if (last + static_cast<int>(std::bit_width(kept)) - 1 > most)
        return negative ? -infinity : infinity;
    const double value = std::ldexp(static_cast<double>(kept), last);
    return negative ? -value : value;
}

std::uint16_t to_half(double value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
    const double size = std::fabs(value);
    if (size > 65504) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (size < std::ldexp(1.0, -14))
        return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(size, 24)));
    const int exponent = std::ilogb(size);
    const int fraction = static_cast<int>(std::ldexp(size, 10 - exponent)) - 1024;
    return static_cast<std::uint16_t>(sign | (exponent + 15) << 10 | fraction);
}

double rounded_pair(double high, double low, Number number) {
    const double sum = high + low;
    if (number == Number::float64) return sum;
    // Rounding to odd first makes the second rounding correct (Boldo, Melquiond, "Emulation of FMA
    // and correctly rounded sums: proved algorithms using rounding to odd", 2008).
    const double back = sum - high;
    const double error = (high - (sum - back)) + (low - back);
    auto bits = std::bit_cast<std::uint64_t>(sum);
    if (error != 0 && (bits & 1) == 0) bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
    std::array<std::int64_t, most_chunks + 1> one{};
    const double odd = std::bit_cast<double>(bits);
    if (number == Number::float32) return static_cast<float>(odd);
    const Range range = range_of(Number::float64, false);
    add_number(one.data(), range, odd);
    return rounded(one.data(), range, number);
}

}  // namespace hocket::exact
