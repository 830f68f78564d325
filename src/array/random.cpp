// SPDX-License-Identifier: BSD-3-Clause
// Random numbers of elements, of 128 random bits for each.
#include "hocket/random.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "array/local.hpp"
#include "array/numbers.hpp"
#include "hocket/binding.hpp"
#include "kernel/convert.hpp"
#include "layout/form.hpp"
#include "layout/segments.hpp"

namespace hocket {
namespace {

constexpr std::size_t most = 256;  // elements at a time

// Visits the local elements in blocks, because all numbers together may have many times the bytes
// of the array.
template <class Visit>
class Blocks {
  public:
    Blocks(const Array& array, const Visit& visit)
        : form_(array.layout().form()), strides_(array.strides()), visit_(visit) {
        if (array::count_of(array) == 0) return;
        auto* const data = static_cast<std::byte*>(array.data());
        if (form_.indexed()) {
            for (const layout::Segment& segment : form_.segments->of(array.process()))
                run(segment.first, segment.length, data + segment.local * strides_[0], strides_[0]);
        } else {
            sets_ = form_.sets(array.process());
            join_rows();
            along(0, 0, data);
        }
        end();
    }

  private:
    // Whole inner dimensions join the one before if memory goes on there: a visit to each of many
    // short rows would take longer than their numbers.
    void join_rows() {
        if (!sets_.empty()) step_ = strides_.back();
        while (sets_.size() > 1 && sets_.back().count() == sets_.back().extent()) {
            const std::int64_t extent = sets_.back().extent();
            const std::int64_t before = strides_[sets_.size() - 2];
            if (joined_ * extent == 1)
                step_ = before;
            else if (before != joined_ * extent * step_)
                return;
            joined_ *= extent;
            sets_.pop_back();
        }
    }

    // The elements whose indices before dimension `d` have this row-major number.
    void along(std::size_t d, std::int64_t number, std::byte* place) {
        if (d == sets_.size()) return run(number, 1, place, 0);
        const layout::IndexSet& set = sets_[d];
        number *= set.extent();
        layout::for_runs(set, 0, set.extent(), [&](std::int64_t first, std::int64_t last) {
            if (d + 1 == sets_.size())
                run((number + first) * joined_, (last - first) * joined_, place, step_);
            else
                for (std::int64_t k = 0; k < last - first; ++k)
                    along(d + 1, number + first + k, place + k * strides_[d]);
            place += (last - first) * strides_[d];
        });
    }

    void run(std::int64_t first, std::int64_t length, std::byte* place, std::int64_t stride) {
        for (std::int64_t k = 0; k < length; ++k) {
            numbers_[count_] = first + k;
            places_[count_] = place + k * stride;
            if (++count_ == most) end();
        }
    }

    void end() {
        visit_(std::span(std::as_const(numbers_)).first(count_), std::span(places_).first(count_));
        count_ = 0;
    }

    const layout::Form& form_;
    const Shape& strides_;
    const Visit& visit_;
    std::vector<layout::IndexSet> sets_;
    std::int64_t joined_ = 1, step_ = 0;  // elements of an index of the last set, and their stride
    std::size_t count_ = 0;
    std::array<std::int64_t, most> numbers_;
    std::array<std::byte*, most> places_;
};

// Sets the local elements, some at a time: `make(words, values)` gets two words of random bits for
// each.
template <class T, class Make>
void fill(const Array& array, std::uint64_t seed, const Make& make) {
    std::array<std::uint64_t, 2 * most> words;
    std::array<T, most> values;
    const auto visit = [&](std::span<const std::int64_t> numbers, std::span<std::byte*> places) {
        const auto own = std::span(words).first(2 * numbers.size());
        philox(seed, numbers, own);
        make(std::span<const std::uint64_t>(own), values.data());
        for (std::size_t k = 0; k < places.size(); ++k)
            *reinterpret_cast<T*>(places[k]) = values[k];
    };
    const Blocks blocks(array, visit);
}

// From 0 to 1 - 2^-53.
double unit(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

struct Half {
    std::uint16_t bits;
};

template <class T>
void convert(const double* from, T* to, std::size_t count) {
    if constexpr (std::is_same_v<T, Half>)
        kernel::convert("float64", reinterpret_cast<const std::byte*>(from), "float16",
                        reinterpret_cast<std::byte*>(to), static_cast<std::int64_t>(count));
    else
        for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<T>(from[k]);
}

template <class T>
T converted(double value) {
    T result{};
    convert(&value, &result, 1);
    return result;
}

// Calls `body` with a zero of the floating-point type. Returns false for another type.
template <class Body>
bool with_floating(const DType& dtype, const Body& body) {
    if (dtype.name == "float16") return body(Half{}), true;
    if (dtype.name == "float32") return body(float{}), true;
    if (dtype.name == "float64") return body(double{}), true;
    if (dtype.name == dtype_of<long double>().name) return body(0.0L), true;
    return false;
}

// Sets elements to the doubles `value(first word, second word)`, rounded; then changes a block by
// `limit(values, count)`.
template <class T, class Value, class Limit>
void fill_floating(const Array& array, std::uint64_t seed, const Value& value, const Limit& limit) {
    std::array<double, most> exact;
    fill<T>(array, seed, [&](std::span<const std::uint64_t> words, T* values) {
        const std::size_t count = words.size() / 2;
        for (std::size_t k = 0; k < count; ++k) exact[k] = value(words[2 * k], words[2 * k + 1]);
        convert(exact.data(), values, count);
        limit(values, count);
    });
}

// The number before `high`, in the direction of `low`, which is not above it; `low` if both are
// equal.
template <class T>
T before(T high, T low) {
    return std::nextafter(high, low);
}
template <class T>
T smaller(T a, T b) {
    return a < b ? a : b;
}

// An integer in the order of the numbers; zeros of both signs are equal.
int order(Half half) {
    const int size = half.bits & 0x7fff;
    return (half.bits & 0x8000) != 0 ? -size : size;
}
Half before(Half high, Half low) {
    if (order(high) == order(low)) return low;
    const int next = order(high) - 1;
    return {static_cast<std::uint16_t>(next < 0 ? 0x8000 - next : next)};
}
Half smaller(Half a, Half b) {
    return order(a) <= order(b) ? a : b;
}

void require_writable(const Array& array) {
    if (!array.writable()) throw Error("the array is read-only; give one that may be written");
}

// The fewest digits from which the number can be read.
std::string shown(double number) {
    std::array<char, 32> digits;
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

void require_floating(const Array& array) {
    if (!with_floating(array.dtype(), [](auto) {}))
        throw Error(array.dtype().name + " is no floating point; give float64, say");
    require_writable(array);
}

}  // namespace

void random_uniform(const Array& array, std::uint64_t seed, double low, double high) {
    require_floating(array);
    if (!(low <= high && std::isfinite(high - low)))
        throw Error("no numbers from " + shown(low) + " to " + shown(high) +
                    "; give low <= high, with a finite difference");
    const auto value = [&](std::uint64_t word, std::uint64_t) {
        return low + (high - low) * unit(word);
    };
    with_floating(array.dtype(), [&](auto zero) {
        using T = decltype(zero);
        // After rounding, a number just below `high` may equal it.
        const T top = before(converted<T>(high), converted<T>(low));
        fill_floating<T>(array, seed, value, [&](T* values, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) values[k] = smaller(values[k], top);
        });
    });
}

void random_normal(const Array& array, std::uint64_t seed, double mean, double deviation) {
    require_floating(array);
    if (!(deviation >= 0))
        throw Error("deviation is " + shown(deviation) + "; give one of 0 or more");
    const auto value = [&](std::uint64_t word, std::uint64_t other) {
        const double radius = std::sqrt(-2 * std::log(unit(word) + 0x1p-54));
        return mean + deviation * radius * std::cos(2 * std::numbers::pi * unit(other));
    };
    with_floating(array.dtype(), [&](auto zero) {
        fill_floating<decltype(zero)>(array, seed, value, [](auto*, std::size_t) {});
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
    const bool known = array::with_integer(array.dtype(), [&](auto zero) {
        using T = decltype(zero);
        // The upper half of a product is uniform to 2^-32 (D. Lemire, "Fast random integer
        // generation in an interval", 2019, without its rejection).
        fill<T>(array, seed, [&](std::span<const std::uint64_t> words, T* values) {
            for (std::size_t k = 0; k < words.size() / 2; ++k)
                values[k] = static_cast<T>(first + ((words[2 * k] >> 32) * count >> 32));
        });
    });
    if (!known) throw Error(array.dtype().name + " holds no integers; give int64, say");
}

}  // namespace hocket
