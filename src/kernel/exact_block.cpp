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

#include <algorithm>
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

// The largest of all SIMD lanes. NaN is never larger, and appears in the remainder.
HOCKET_INLINE double largest(const Vector& most) {
    double top = 0;
    for (int lane = 0; lane < 8; ++lane)
        if (most[lane] > top) top = most[lane];
    return top;
}

// Extracts `levels` sums in one pass, the first of which starts from `guess`. The result is whole
// if no number is above the guess's size and nothing is left. `top`: the largest size.
template <int levels, class T>
HOCKET_INLINE BlockSum extract(const T* values, std::int64_t count, double guess, double& top) {
    constexpr int wide = levels > 2 ? 2 : lanes / 8;
    double starts[levels];
    Vector sums[levels][wide], most[wide], left[wide];
#pragma GCC unroll 4
    for (int level = 0; level < levels; ++level) {
        starts[level] = level == 0 ? guess : starts[level - 1] * power_of_two(-taken);
#pragma GCC unroll 4
        for (int v = 0; v < wide; ++v) sums[level][v] = Vector{} + starts[level];
    }
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) most[v] = left[v] = Vector{};
    for (std::int64_t k = 0; k < count; k += std::int64_t{8} * wide) {
#pragma GCC unroll 4  // keeps the sums in registers
        for (int v = 0; v < wide; ++v) {
            Vector x;
            load(x, values + k + 8 * v);
            raise(most[v], x);
#pragma GCC unroll 4
            for (int level = 0; level < levels; ++level) {
                const Vector more = sums[level][v] + x;
                x = x - (more - sums[level][v]);
                sums[level][v] = more;
            }
            left[v] = (Vector)((Bits)left[v] | (Bits)x);  // the sign of -0 does not count
        }
    }
    double found[4] = {};
    long long any = 0;
    for (int v = 0; v < wide; ++v) {
        if (v > 0) raise(most[0], most[v]);
        for (int lane = 0; lane < 8; ++lane) any |= ((Bits)left[v])[lane] & no_sign;
    }
    for (int level = 0; level < levels; ++level) {
        Vector all = {};
        for (int v = 0; v < wide; ++v) all += sums[level][v] - starts[level];
        for (int lane = 0; lane < 8; ++lane) found[level] += all[lane];
    }
    top = largest(most[0]);
    // The sums stay within their powers of two for numbers of up to twice the size, start / 1.5 *
    // 2^(1 - spare).
    const bool fits = top * (0.75 * (1 << spare)) < guess;
    return {found[0], found[1], fits && any == 0, {found[2], found[3]}};
}

template <class T>
HOCKET_INLINE BlockSum sum_lanes(const T* values, std::int64_t count, double& guess) {
    // One sum takes what floats of similar sizes have.
    constexpr int levels = sizeof(T) == sizeof(float) ? 1 : 2;
    double top = 0;
    if (guess != 0) {
        const BlockSum sum = extract<levels>(values, count, guess, top);
        if (in_range(top)) guess = start_for(top);
        if (sum.whole) return sum;
    }
    Vector most = {};
    for (std::int64_t k = 0; k < count; k += 8) {
        Vector x;
        load(x, values + k);
        raise(most, x);
    }
    top = largest(most);
    if (!in_range(top)) return {.whole = false};
    guess = start_for(top);
    const BlockSum sum = extract<2>(values, count, guess, top);
    // Further sums lie above the least number that there is.
    if (sum.whole || guess < 0x1p-750) return sum;
    return extract<4>(values, count, guess, top);
}

// Several rows at a time, from end to end: memory delivers long runs fastest.
HOCKET_INLINE void columns_lanes(std::span<const double* const> rows, std::int64_t columns,
                                 double* guesses, BlockSum* sums) {
    struct State {
        Vector high, low, most, left;
    };
    constexpr std::size_t together = 8, looked_at = 16;
    State states[widest / 8];
    double starts[widest];
    for (std::int64_t c = 0; c < columns; c += 8) {
        Vector most = {};
        for (std::size_t k = 0; guesses[c] == 0 && k < std::min(looked_at, rows.size()); ++k) {
            Vector x;
            load(x, rows[k] + c);
            raise(most, x);
        }
        for (int lane = 0; lane < 8; ++lane) {
            double& guess = guesses[c + lane];
            if (guess == 0) guess = start_for(in_range(most[lane]) ? most[lane] : 0);
            starts[c + lane] = guess;
        }
        State& state = states[c / 8];
        load(state.high, starts + c);
        state.low = state.high * power_of_two(-taken);
        state.most = state.left = Vector{};
    }
    for (std::size_t k = 0; k < rows.size(); k += together) {
        const std::size_t end = std::min(k + together, rows.size());
        for (std::int64_t c = 0; c < columns; c += 8) {
            auto [high, low, most, left] = states[c / 8];
            for (std::size_t row = k; row < end; ++row) {
                Vector x;
                load(x, rows[row] + c);
                raise(most, x);
                const Vector more = high + x;
                const Vector rest = x - (more - high);
                high = more;
                const Vector again = low + rest;
                left = (Vector)((Bits)left | (Bits)(rest - (again - low)));
                low = again;
            }
            states[c / 8] = {high, low, most, left};
        }
    }
    for (std::int64_t c = 0; c < columns; ++c) {
        const State& state = states[c / 8];
        const int lane = static_cast<int>(c % 8);
        const double top = state.most[lane], start = starts[c];
        const bool fits = top * (0.75 * (1 << spare)) < start;
        sums[c] = {state.high[lane] - start,
                   state.low[lane] - start * power_of_two(-taken),
                   fits && (((Bits)state.left)[lane] & no_sign) == 0,
                   {}};
        if (in_range(top)) guesses[c] = start_for(top);
    }
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
        attribute static BlockSum sum(const double* values, std::int64_t count, double& guess) {  \
            return sum_lanes(values, count, guess);                                               \
        }                                                                                         \
        attribute static BlockSum sum(const float* values, std::int64_t count, double& guess) {   \
            return sum_lanes(values, count, guess);                                               \
        }                                                                                         \
        attribute static void columns(std::span<const double* const> rows, std::int64_t count,    \
                                      double* guesses, BlockSum* sums) {                          \
            columns_lanes(rows, count, guesses, sums);                                            \
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

BlockSum sum_block(const double* values, std::int64_t count, double& guess) {
    return dispatch([&](auto functions) { return functions.sum(values, count, guess); });
}
BlockSum sum_block(const float* values, std::int64_t count, double& guess) {
    return dispatch([&](auto functions) { return functions.sum(values, count, guess); });
}
void sum_columns(std::span<const double* const> rows, std::int64_t columns, double* guesses,
                 BlockSum* sums) {
    dispatch([=](auto functions) { functions.columns(rows, columns, guesses, sums); });
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
