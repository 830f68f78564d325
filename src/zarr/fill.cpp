// SPDX-License-Identifier: BSD-3-Clause
// Fill values from JSON and back.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "hocket/error.hpp"
#include "zarr/dtype.hpp"
#ifdef HOCKET_JSON
#include "zarr/json.hpp"

namespace hocket::zarr {
namespace {

using Kind = DataType::Kind;

[[noreturn]] void no_fill(const std::string& json, const DataType& type) {
    throw Error("the fill value " + json.substr(0, 80) + " is none of the type " + type.name());
}

template <class T>
Bytes bytes_of(const T& value) {
    Bytes out(sizeof(T));
    std::memcpy(out.data(), &value, sizeof(T));
    return out;
}

template <class T>
T value_of(const std::byte* data) {
    T value;
    std::memcpy(&value, data, sizeof(T));
    return value;
}

// IEEE 754's binary16, to the nearest, ties to even.
std::uint16_t half_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 48U) & 0x8000U);
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00U);
    const double size = std::fabs(value);
    if (size >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00U);
    if (size == 0) return sign;
    int exponent = 0;
    std::frexp(size, &exponent);
    const int unit = std::max(exponent - 11, -24);  // the last bit's exponent
    const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -unit)));
    if (unit == -24) return static_cast<std::uint16_t>(sign | steps);
    // A carry of the fraction correctly increments the exponent.
    const auto biased = static_cast<std::uint32_t>(unit + 24);
    return static_cast<std::uint16_t>(sign | ((biased << 10U) + steps));
}

double double_of_half(std::uint16_t half) {
    const int exponent = (half >> 10U) & 0x1F;
    const int fraction = half & 0x3FF;
    double size = 0;
    if (exponent == 31)
        size = fraction == 0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    else
        size =
            exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    return (half & 0x8000U) != 0 ? -size : size;
}

Bytes bytes_of_real(double value, std::int64_t size) {
    if (size == 2) return bytes_of(half_of(value));
    return size == 4 ? bytes_of(static_cast<float>(value)) : bytes_of(value);
}

// "0x7fc00000": the bits themselves, the highest first.
std::optional<Bytes> bytes_of_hex(const std::string& text, std::int64_t size) {
    if (text.size() != 2 + 2 * static_cast<std::size_t>(size) || text.substr(0, 2) != "0x")
        return std::nullopt;
    Bytes out(static_cast<std::size_t>(size));
    for (std::size_t k = 0; k < out.size(); ++k) {
        unsigned value = 0;
        const char* at = text.data() + 2 + 2 * k;
        const auto [end, error] = std::from_chars(at, at + 2, value, 16);
        if (error != std::errc() || end != at + 2) return std::nullopt;
        out[out.size() - 1 - k] = static_cast<std::byte>(value);
    }
    return out;
}

std::optional<Bytes> real_fill(const json::Value& value, std::int64_t size) {
    if (value.is_number()) return bytes_of_real(value.get<double>(), size);
    if (!value.is_string()) return std::nullopt;
    const std::string text = value.get<std::string>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "NaN") return bytes_of_real(std::numeric_limits<double>::quiet_NaN(), size);
    if (text == "Infinity") return bytes_of_real(infinity, size);
    if (text == "-Infinity") return bytes_of_real(-infinity, size);
    return bytes_of_hex(text, size);
}

std::optional<Bytes> whole_fill(const json::Value& value, const DataType& type) {
    const auto bits = static_cast<unsigned>(8 * type.size);
    std::uint64_t out = 0;
    if (value.is_number_unsigned()) {
        out = value.get<std::uint64_t>();
        const unsigned room = type.kind == Kind::integer ? bits - 1 : bits;
        if (room < 64 && (out >> room) != 0) return std::nullopt;
    } else if (value.is_number_integer() && type.kind == Kind::integer) {
        const auto signed_value = value.get<std::int64_t>();
        if (bits < 64 && signed_value < -(std::int64_t{1} << (bits - 1))) return std::nullopt;
        out = static_cast<std::uint64_t>(signed_value);
    } else {
        return std::nullopt;
    }
    Bytes all = bytes_of(out);
    all.resize(static_cast<std::size_t>(type.size));
    return all;
}

constexpr std::string_view base64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Raw bits are a list of bytes, or base64.
std::optional<Bytes> raw_fill(const json::Value& value, std::int64_t size) {
    Bytes out;
    if (value.is_number_integer() && value.get<std::int64_t>() == 0) {
        out.resize(static_cast<std::size_t>(size));
    } else if (value.is_array()) {
        for (const auto& item : value) {
            if (!item.is_number_unsigned() || item.get<std::uint64_t>() > 255) return std::nullopt;
            out.push_back(static_cast<std::byte>(item.get<std::uint64_t>()));
        }
    } else if (value.is_string()) {
        std::uint32_t bits = 0;
        int held = 0;
        for (const char letter : value.get<std::string>()) {
            if (letter == '=') break;
            const auto digit = base64.find(letter);
            if (digit == std::string_view::npos) return std::nullopt;
            bits = ((bits << 6U) | static_cast<std::uint32_t>(digit)) & 0xFFFFFFU;
            held += 6;
            if (held < 8) continue;
            held -= 8;
            out.push_back(static_cast<std::byte>((bits >> static_cast<unsigned>(held)) & 0xFFU));
        }
    } else {
        return std::nullopt;
    }
    if (out.size() != static_cast<std::size_t>(size)) return std::nullopt;
    return out;
}

std::optional<Bytes> complex_fill(const json::Value& value, std::int64_t size) {
    const bool pair = value.is_array() && value.size() == 2;
    if (!pair && !value.is_number()) return std::nullopt;
    auto real = real_fill(pair ? value[0] : value, size / 2);
    const auto imaginary = real_fill(pair ? value[1] : json::Value(0), size / 2);
    if (!real || !imaginary) return std::nullopt;
    real->insert(real->end(), imaginary->begin(), imaginary->end());
    return real;
}

json::Value json_of_real(const std::byte* data, std::int64_t size) {
    const double value = size == 2   ? double_of_half(value_of<std::uint16_t>(data))
                         : size == 4 ? static_cast<double>(value_of<float>(data))
                                     : value_of<double>(data);
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return value;
}

json::Value json_of_whole(const std::byte* data, const DataType& type) {
    std::uint64_t value = 0;
    std::memcpy(&value, data, static_cast<std::size_t>(type.size));
    if (type.kind == Kind::natural) return value;
    const auto shift = static_cast<unsigned>(64 - 8 * type.size);
    return static_cast<std::int64_t>(value << shift) >> shift;
}

}  // namespace

Bytes fill_of_json(const std::string& text, const DataType& type) {
    const json::Value value = json::parse_rounded(text, "the fill value");
    std::optional<Bytes> out;
    if (value.is_null()) return Bytes(static_cast<std::size_t>(type.size));
    switch (type.kind) {
        case Kind::boolean:
            if (value.is_boolean()) out = bytes_of(value.get<bool>());
            if (value.is_number_integer() && value.get<std::int64_t>() == 0) out = bytes_of(false);
            break;
        case Kind::integer:
        case Kind::natural:
            out = whole_fill(value, type);
            break;
        case Kind::real:
            out = real_fill(value, type.size);
            break;
        case Kind::complex:
            out = complex_fill(value, type.size);
            break;
        case Kind::raw:
            out = raw_fill(value, type.size);
            break;
    }
    if (!out) no_fill(text, type);
    return *out;
}

std::string base64_of(const Bytes& data) {
    std::string out;
    for (std::size_t first = 0; first < data.size(); first += 3) {
        const std::size_t count = std::min<std::size_t>(3, data.size() - first);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < count; ++k)
            bits |= static_cast<std::uint32_t>(data[first + k]) << (16 - 8 * k);
        for (std::size_t k = 0; k < 4; ++k)
            out += k <= count ? base64[(bits >> (18 - 6 * k)) & 0x3FU] : '=';
    }
    return out;
}

std::string json_of_fill(const Bytes& fill, const DataType& type) {
    json::Value value;
    switch (type.kind) {
        case Kind::boolean:
            value = fill[0] != std::byte{0};
            break;
        case Kind::integer:
        case Kind::natural:
            value = json_of_whole(fill.data(), type);
            break;
        case Kind::real:
            value = json_of_real(fill.data(), type.size);
            break;
        case Kind::complex:
            value = {json_of_real(fill.data(), type.size / 2),
                     json_of_real(fill.data() + type.size / 2, type.size / 2)};
            break;
        case Kind::raw:
            value = json::Value::array();
            for (const std::byte byte : fill) value.push_back(static_cast<unsigned>(byte));
            break;
    }
    return json::text(value);
}

}  // namespace hocket::zarr
#endif
