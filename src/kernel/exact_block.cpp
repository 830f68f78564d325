// SPDX-License-Identifier: BSD-3-Clause
// Error-free extraction: with sum = 1.5 * 2^m and |x| much less, (sum + x) - sum is x rounded to a
// multiple of sum's last bit, and x less that is exact (Rump, Ogita, Oishi, "Accurate
// floating-point summation part I: faithful rounding", 2008). A running sum in the place of a fixed
// one is the idea of Demmel, Nguyen, "Parallel reproducible summation" (2015). So the leading bits
// of all x have a sum without rounding error; a second sum takes 43 bits more, and what is left is
// looked at.
#include "kernel/exact_block.hpp"

#if defined(__x86_64__)
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

#include <bit>
#include <cstring>
#include <limits>

#include "kernel/cpu.hpp"

namespace hocket::exact {
namespace {

// Vectors of the compiler's, which makes of them whatever the target has.
using Vector __attribute__((vector_size(64))) = double;
using Bits __attribute__((vector_size(64))) = long long;
using Floats __attribute__((vector_size(32))) = float;

#define HOCKET_INLINE inline __attribute__((always_inline))

constexpr int spare = 10;  // bits of a sum above the largest number
constexpr int taken = 43;  // bits of all numbers that a sum takes
constexpr long long no_sign = 0x7fffffffffffffffLL;

HOCKET_INLINE void load(Vector& to, const double* from) {
    std::memcpy(&to, from, sizeof to);
}
HOCKET_INLINE void load(Vector& to, const float* from) {
    Floats some;
    std::memcpy(&some, from, sizeof some);
    to = __builtin_convertvector(some, Vector);
}

HOCKET_INLINE void raise(Vector& most, const Vector& x) {
    const Vector size = (Vector)((Bits)x & no_sign);
    most = size > most ? size : most;
}

double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}
bool in_range(double top) {
    return top == 0 || (top >= 0x1p-900 && top < 0x1p1000);
}
// The initial value of a sum: 1.5 * 2^(e + spare), where top < 2^e.
double start_for(double top) {
    const auto field = static_cast<int>(std::bit_cast<std::uint64_t>(top) >> 52);
    return 1.5 * power_of_two(top == 0 ? 0 : field - 1023 + 1 + spare);
}

template <int levels, class T>
HOCKET_INLINE BlockSum extract(const T* values, std::int64_t count, double first_start) {
    constexpr int wide = lanes / 8;
    const double second_start = first_start * power_of_two(-taken);
    Vector high[wide], low[wide];
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) {
        high[v] = Vector{} + first_start;
        low[v] = Vector{} + second_start;
    }
    Bits left = {};
    for (std::int64_t k = 0; k < count; k += lanes) {
#pragma GCC unroll 4  // keeps the sums in registers
        for (int v = 0; v < wide; ++v) {
            Vector x;
            load(x, values + k + 8 * v);
            const Vector more = high[v] + x;
            Vector rest = x - (more - high[v]);
            high[v] = more;
            if constexpr (levels == 2) {
                const Vector again = low[v] + rest;
                rest = rest - (again - low[v]);
                low[v] = again;
            }
            left |= (Bits)rest & no_sign;
        }
    }
    Vector highs = {}, lows = {};
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) {
        highs += high[v] - first_start;
        lows += low[v] - second_start;
    }
    BlockSum sum;
    long long any = 0;
    for (int lane = 0; lane < 8; ++lane) {
        sum.high += highs[lane];
        sum.low += lows[lane];
        any |= left[lane];
    }
    sum.whole = any == 0;
    return sum;
}

// The same where every number's last bit is one that the sums have, so that nothing is left.
template <int levels, class T>
HOCKET_INLINE BlockSum extract_all(const T* values, std::int64_t count, double first_start) {
    constexpr int wide = lanes / 8;
    Vector high[wide], low[wide];
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) {
        high[v] = Vector{} + (levels == 2 ? first_start : 0);
        low[v] = Vector{};
    }
    for (std::int64_t k = 0; k < count; k += lanes) {
#pragma GCC unroll 4
        for (int v = 0; v < wide; ++v) {
            Vector x;
            load(x, values + k + 8 * v);
            const Vector more = high[v] + x;
            if constexpr (levels == 2) low[v] += x - (more - high[v]);
            high[v] = more;
        }
    }
    Vector highs = {}, lows = {};
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) {
        highs += high[v] - (levels == 2 ? first_start : 0);
        lows += low[v];
    }
    BlockSum sum;
    for (int lane = 0; lane < 8; ++lane) {
        sum.high += highs[lane];
        sum.low += lows[lane];
    }
    sum.whole = sum.high == sum.high;  // no NaN
    return sum;
}

template <class T>
HOCKET_INLINE BlockSum sum_lanes(const T* values, std::int64_t count) {
    Vector most[2] = {};
    const Vector infinite = Vector{} + std::numeric_limits<double>::infinity();
    Vector least[2] = {infinite, infinite};  // but for zeros
    for (std::int64_t k = 0; k < count; k += 16) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            Vector x;
            load(x, values + k + 8 * half);
            raise(most[half], x);
            const Vector size = (Vector)((Bits)x & no_sign);
            const Vector other = size == 0.0 ? infinite : size;
            least[half] = other < least[half] ? other : least[half];
        }
    }
    double top = 0, bottom = std::numeric_limits<double>::infinity();
    for (int lane = 0; lane < 8; ++lane) {  // NaN compares as nothing, and shows in what is left
        if (most[0][lane] > top) top = most[0][lane];
        if (most[1][lane] > top) top = most[1][lane];
        if (least[0][lane] < bottom) bottom = least[0][lane];
        if (least[1][lane] < bottom) bottom = least[1][lane];
    }
    if (!in_range(top)) return {.whole = false};
    const double start = start_for(top);
    // A number of 53 bits (24) ends above the last bit of the second sum (of a float64) where it is
    // at least 2^(e - 32) (2^(e - 17)); start is 1.5 * 2^(e + spare).
    constexpr int reach = sizeof(T) == sizeof(float) ? 17 : 32;
    if (bottom >= start * power_of_two(-spare - reach))
        return extract_all < sizeof(T) == sizeof(float) ? 1 : 2 > (values, count, start);
    if constexpr (sizeof(T) == sizeof(float)) {
        const BlockSum sum = extract<1>(values, count, start);
        if (sum.whole) return sum;
    }
    return extract<2>(values, count, start);
}

HOCKET_INLINE void sum_eight(const double* values, std::int64_t rows, BlockSum* sums) {
    Vector most = {};
    for (std::int64_t k = 0; k < rows; ++k) {
        Vector x;
        load(x, values + k * widest);
        raise(most, x);
    }
    Vector first_start, second_start;
    bool fits = true;
    for (int lane = 0; lane < 8; ++lane) {
        fits = fits && in_range(most[lane]);
        first_start[lane] = start_for(in_range(most[lane]) ? most[lane] : 0);
        second_start[lane] = first_start[lane] * power_of_two(-taken);
    }
    Vector high = first_start, low = second_start;
    Bits left = {};
    for (std::int64_t k = 0; k < rows; ++k) {
        Vector x;
        load(x, values + k * widest);
        const Vector more = high + x;
        const Vector rest = x - (more - high);
        high = more;
        const Vector again = low + rest;
        left |= (Bits)(rest - (again - low)) & no_sign;
        low = again;
    }
    high -= first_start;
    low -= second_start;
    for (int lane = 0; lane < 8; ++lane)
        sums[lane] = {high[lane], low[lane], fits && left[lane] == 0};
}

HOCKET_INLINE void columns_lanes(const double* values, std::int64_t rows, BlockSum* sums) {
    for (std::int64_t k = 0; k < widest; k += 8) sum_eight(values + k, rows, sums + k);
}

HOCKET_INLINE void halves_lanes(const std::uint16_t* halves, std::int64_t count, double* to) {
    using Words __attribute__((vector_size(32))) = std::int32_t;
    using Short __attribute__((vector_size(16))) = std::uint16_t;
    for (std::int64_t k = 0; k < count; k += 8) {
        Short some;
        std::memcpy(&some, halves + k, sizeof some);
        const Words bits = __builtin_convertvector(some, Words);
        // A half's fields in a float's places: the exponent is too low by 112.
        const Floats size = (Floats)((bits & 0x7fff) << 13) * 0x1p112F;
        const Words special = (Words)size | 0x7f800000;
        const Words sized = (bits & 0x7c00) == 0x7c00 ? special : (Words)size;
        const Vector wide =
            __builtin_convertvector((Floats)(sized | (bits & 0x8000) << 16), Vector);
        std::memcpy(to + k, &wide, sizeof wide);
    }
}

struct Portable {
    static void errors(const double* x, const double* y, std::int64_t count, const double* products,
                       double* errors) {
        for (std::int64_t k = 0; k < count; ++k)
            errors[k] = __builtin_fma(x[k], y[k], -products[k]);
    }
};

HOCKET_INLINE bool multiply_lanes(const double* x, const double* y, std::int64_t count,
                                  double* products) {
    Bits bad = {};
    for (std::int64_t k = 0; k < count; k += 8) {
        Vector a, b;
        load(a, x + k);
        load(b, y + k);
        const Vector product = a * b;
        const Vector size = (Vector)((Bits)product & no_sign);
        const Bits fits = (size >= 0x1p-900) & (size < 0x1p1000);
        bad |= ~fits & ~((a == 0.0) | (b == 0.0));
        std::memcpy(products + k, &product, sizeof product);
    }
    long long any = 0;
    for (int lane = 0; lane < 8; ++lane) any |= bad[lane];
    return any == 0;
}

// One set of functions for each level of the processor. An attribute takes no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define HOCKET_FUNCTIONS(Target, attribute)                                                       \
    struct Target##Functions {                                                                    \
        attribute static BlockSum sum(const double* values, std::int64_t count) {                 \
            return sum_lanes(values, count);                                                      \
        }                                                                                         \
        attribute static BlockSum sum(const float* values, std::int64_t count) {                  \
            return sum_lanes(values, count);                                                      \
        }                                                                                         \
        attribute static void columns(const double* values, std::int64_t rows, BlockSum* sums) {  \
            columns_lanes(values, rows, sums);                                                    \
        }                                                                                         \
        attribute static bool multiply(const double* x, const double* y, std::int64_t count,      \
                                       double* products, double* errors) {                        \
            const bool exact = multiply_lanes(x, y, count, products);                             \
            Target::errors(x, y, count, products, errors);                                        \
            return exact;                                                                         \
        }                                                                                         \
        attribute static void halves(const std::uint16_t* from, std::int64_t count, double* to) { \
            halves_lanes(from, count, to);                                                        \
        }                                                                                         \
    };

// NOLINTEND(bugprone-macro-parentheses)
HOCKET_FUNCTIONS(Portable, )

#if defined(__x86_64__)
#define HOCKET_AVX2 __attribute__((target("avx2,fma")))
#define HOCKET_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma")))

struct Avx2 {
    HOCKET_AVX2 static void errors(const double* x, const double* y, std::int64_t count,
                                   const double* products, double* errors) {
        for (std::int64_t k = 0; k < count; k += 4)
            _mm256_storeu_pd(errors + k,
                             _mm256_fmsub_pd(_mm256_loadu_pd(x + k), _mm256_loadu_pd(y + k),
                                             _mm256_loadu_pd(products + k)));
    }
};
struct Avx512 {
    HOCKET_AVX512 static void errors(const double* x, const double* y, std::int64_t count,
                                     const double* products, double* errors) {
        for (std::int64_t k = 0; k < count; k += 8)
            _mm512_storeu_pd(errors + k,
                             _mm512_fmsub_pd(_mm512_loadu_pd(x + k), _mm512_loadu_pd(y + k),
                                             _mm512_loadu_pd(products + k)));
    }
};
HOCKET_FUNCTIONS(Avx2, HOCKET_AVX2)
HOCKET_FUNCTIONS(Avx512, HOCKET_AVX512)
#endif

// Calls f with the functions for this processor.
template <class F>
auto dispatch(F&& f) {
#if defined(__x86_64__)
    static const bool has_fma = __builtin_cpu_supports("fma") != 0;
    const auto level = has_fma ? kernel::cpu_level() : kernel::CpuLevel::portable;
    if (level == kernel::CpuLevel::avx512) return f(Avx512Functions());
    if (level == kernel::CpuLevel::avx2) return f(Avx2Functions());
#endif
    return f(PortableFunctions());
}

}  // namespace

BlockSum sum_block(const double* values, std::int64_t count) {
    return dispatch([=](auto functions) { return functions.sum(values, count); });
}
BlockSum sum_block(const float* values, std::int64_t count) {
    return dispatch([=](auto functions) { return functions.sum(values, count); });
}
void sum_columns(const double* values, std::int64_t rows, BlockSum* sums) {
    dispatch([=](auto functions) { functions.columns(values, rows, sums); });
}
bool multiply_block(const double* x, const double* y, std::int64_t count, double* products,
                    double* errors) {
    return dispatch(
        [=](auto functions) { return functions.multiply(x, y, count, products, errors); });
}
void widen_halves(const std::uint16_t* halves, std::int64_t count, double* to) {
    const std::int64_t even = count / 8 * 8;
    dispatch([=](auto functions) { functions.halves(halves, even, to); });
    std::uint16_t rest[8] = {};
    double wide[8];
    std::memcpy(rest, halves + even, static_cast<std::size_t>(count - even) * sizeof *halves);
    dispatch([&](auto functions) { functions.halves(rest, 8, wide); });
    for (std::int64_t k = even; k < count; ++k) to[k] = wide[k - even];
}

}  // namespace hocket::exact
