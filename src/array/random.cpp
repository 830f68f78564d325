// SPDX-License-Identifier: BSD-3-Clause
// Random numbers of elements, of 128 random bits for each.
#include "hocket/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <sstream>
#include <utility>

#include "array/numbers.hpp"
#include "hocket/binding.hpp"
#include "kernel/convert.hpp"

namespace hocket {
namespace {

struct Bits {
    std::uint64_t first, second;
};

// From 0 to 1 - 2^-53.
double unit(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Sets each local element to `value` of its random bits, some elements at a time.
template <class T, class Value>
void fill(const Array& array, std::uint64_t seed, const Value& value) {
    constexpr std::size_t most = 256;
    std::array<std::int64_t, most> numbers;
    std::array<std::uint64_t, 2 * most> words;
    std::array<T*, most> elements;
    std::size_t count = 0;
    const auto flush = [&] {
        philox(seed, std::span(numbers).first(count), std::span(words).first(2 * count));
        for (std::size_t k = 0; k < count; ++k)
            *elements[k] = value(Bits{words[2 * k], words[2 * k + 1]});
        count = 0;
    };
    const Shape shape = array.layout().shape();
    for_each<T>(array, [&](std::span<const std::int64_t> index, T& element) {
        std::int64_t number = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) number = number * shape[d] + index[d];
        numbers[count] = number;
        elements[count++] = &element;
        if (count == most) flush();
    });
    flush();
}

void require_writable(const Array& array) {
    if (!array.writable()) throw Error("the array is read-only; give one that may be written");
}

constexpr const char* half = "float16";

template <class From, class To>
To converted(const char* from, From value, const char* to) {
    To result{};
    kernel::convert(from, reinterpret_cast<const std::byte*>(&value), to,
                    reinterpret_cast<std::byte*>(&result), 1);
    return result;
}
std::uint16_t half_of(double value) {
    return converted<double, std::uint16_t>("float64", value, half);
}

// The number of the type before `high`, in the direction of `low`, which is not above it.
double before(const std::string& type, double high, double low) {
    if (type == "float32") return std::nextafter(static_cast<float>(high), static_cast<float>(low));
    if (type != half) return std::nextafter(high, low);
    std::uint16_t bits = half_of(high);
    constexpr std::uint16_t sign = 0x8000;
    if (bits != half_of(low))
        bits = static_cast<std::uint16_t>((bits & ~sign) == 0  ? sign + 1
                                          : (bits & sign) != 0 ? bits + 1
                                                               : bits - 1);
    return converted<std::uint16_t, double>(half, bits, "float64");
}

// Fills an array of any floating-point type.
template <class Value>
void fill_real(const Array& array, std::uint64_t seed, const Value& value) {
    const std::string& type = array.dtype().name;
    if (type == "float32")
        fill<float>(array, seed, [&](Bits bits) { return static_cast<float>(value(bits)); });
    else if (type == "float64")
        fill<double>(array, seed, value);
    else if (type == half)
        fill<std::uint16_t>(Array::wrap(array.data(), array.layout(), dtype_of<std::uint16_t>(),
                                        array.comm(), array.strides()),
                            seed, [&](Bits bits) { return half_of(value(bits)); });
    else
        fill<long double>(array, seed, value);
}

std::string shown(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

void require_real(const Array& array) {
    const std::string& type = array.dtype().name;
    if (type != "float32" && type != "float64" && type != half &&
        type != dtype_of<long double>().name)
        throw Error(type + " is no floating point; give float64, say");
    require_writable(array);
}

}  // namespace

void random_uniform(const Array& array, std::uint64_t seed, double low, double high) {
    require_real(array);
    if (!(low <= high && std::isfinite(high - low)))
        throw Error("no numbers from " + shown(low) + " to " + shown(high) +
                    "; give low <= high, both finite");
    // After rounding, a number just below `high` may equal it.
    const double top = before(array.dtype().name, high, low);
    fill_real(array, seed,
              [&](Bits bits) { return std::min(low + (high - low) * unit(bits.first), top); });
}

void random_normal(const Array& array, std::uint64_t seed, double mean, double deviation) {
    require_real(array);
    if (!(deviation >= 0))
        throw Error("deviation is " + shown(deviation) + "; give one of 0 or more");
    fill_real(array, seed, [&](Bits bits) {
        const double radius = std::sqrt(-2 * std::log(unit(bits.first) + 0x1p-54));
        return mean + deviation * radius * std::cos(2 * std::numbers::pi * unit(bits.second));
    });
}

void random_integers(const Array& array, std::uint64_t seed, std::int64_t low, std::int64_t high) {
    require_writable(array);
    const auto first = static_cast<std::uint64_t>(low);
    const std::uint64_t count = static_cast<std::uint64_t>(high) - first;
    bool fits = low < high && count <= std::uint64_t{1} << 32;
    const bool known = array::with_integer(array.dtype(), [&](auto zero) {
        using T = decltype(zero);
        fits = fits && std::in_range<T>(low) && std::in_range<T>(high - 1);
    });
    if (!known) throw Error(array.dtype().name + " holds no integers; give int64, say");
    if (!fits)
        throw Error("no integers of " + array.dtype().name + " from " + std::to_string(low) +
                    " to " + std::to_string(high) + "; give low < high, at most 2^32 apart");
    Binding::random_integers(array, seed, first, count);
}

void Binding::random_integers(const Array& array, std::uint64_t seed, std::uint64_t first,
                              std::uint64_t count) {
    array::with_integer(array.dtype(), [&](auto zero) {
        using T = decltype(zero);
        // The upper half of a product is uniform to 2^-32 (D. Lemire, "Fast random integer
        // generation in an interval", 2019, without its rejection).
        fill<T>(array, seed, [&](Bits bits) {
            return static_cast<T>(first + ((bits.first >> 32) * count >> 32));
        });
    });
}

}  // namespace hocket
