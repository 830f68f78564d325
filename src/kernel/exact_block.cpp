// SPDX-License-Identifier: BSD-3-Clause
// Error-free extraction: with sum = 1.5 * 2^m and |x| much less, (sum + x) - sum is x rounded to a
// multiple of sum's last bit, and x less that is exact (Rump, Ogita, Oishi, "Accurate
// floating-point summation part I: faithful rounding", 2008). A running sum in the place of a fixed
// one is the idea of Demmel, Nguyen, "Parallel reproducible summation" (2015). So the leading bits
// of all x have a sum without rounding error. The rests have one, too, while it needs 53 bits or
// less of the unit of which all x are multiples; the least |x| gives that unit.
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
#include <cmath>
#include <cstring>
#include <limits>

#include "kernel/cpu.hpp"
#include "kernel/exact_columns.hpp"
#include "kernel/exact_sizes.hpp"

namespace hocket::exact {
namespace {

// The sums of one part of the numbers, or of two whose numbers alternate.
template <std::size_t parts>
using Sums = std::array<BlockSum, parts>;

// Takes `splits` parts of all numbers, and adds the rests. The result is whole if no number is
// larger than twice `start` is made for, and the sum of rests has few enough bits.
template <int splits, std::size_t parts, class T>
HOCKET_INLINE Sums<parts> extract(const T* values, std::int64_t count, double start,
                                  Extent& extent) {
    constexpr int wide = splits > 1 ? 2 : lanes / 8;
    double starts[splits + 1];
    Vector sums[splits + 1][wide];
#pragma GCC unroll 4
    for (int level = 0; level <= splits; ++level) {
        starts[level] = level == 0 ? start : starts[level - 1] * power_of_two(-taken);
        if (level == splits) starts[level] = 0;
#pragma GCC unroll 4
        for (int v = 0; v < wide; ++v) sums[level][v] = Vector{} + starts[level];
    }
    Extremes extremes;
    for (std::int64_t k = 0; k < count; k += std::int64_t{8} * wide) {
        Vector all[wide];
#pragma GCC unroll 4  // keeps the sums in registers
        for (int v = 0; v < wide; ++v) {
            Vector x;
            load(x, values + k + 8 * v);
            all[v] = x;
#pragma GCC unroll 4
            for (int level = 0; level < splits; ++level) {
                const Vector more = sums[level][v] + x;
                x -= more - sums[level][v];
                sums[level][v] = more;
            }
            sums[splits][v] += x;
        }
        widen(extremes, all);
    }
    double found[parts][most_splits + 1] = {};
    for (int level = 0; level <= splits; ++level) {
        Vector all = {};
        for (int v = 0; v < wide; ++v) all += sums[level][v] - starts[level];
        for (std::size_t lane = 0; lane < 8; ++lane) found[lane % parts][level] += all[lane];
    }
    extent = extent_of<T>(extremes);
    const bool fits = extent.top * (0.75 * (1 << spare)) < start &&
                      extent.splits_for(field_of(start) - 1023 - spare) <= splits;
    Sums<parts> result;
    for (std::size_t part = 0; part < parts; ++part) {
        const auto& of = found[part];
        const bool whole = extent.zero || (fits && !std::isnan(of[splits]));
        result[part] = {of[0], of[1], whole, {of[2], of[3]}};
    }
    return result;
}

// Zeros say nothing, and numbers whose parts are too many start again.
void learn(Guess& guess, const Extent& extent) {
    if (extent.zero) return;
    guess.start = 0;
    if (extent.top == 0 || !in_range(extent.top)) return;
    guess.splits = extent.splits_for(field_of(extent.top) - 1023 + 1);
    if (guess.splits <= most_splits) guess.start = start_for(extent.top);
}

template <std::size_t parts, class T>
HOCKET_INLINE Sums<parts> sum_lanes(const T* values, std::int64_t count, Guess& guess) {
    Extent extent;
    if (guess.start == 0) {
        extent = measure(values, count);
        learn(guess, extent);
        if (extent.zero) return {};
    }
    for (int attempt = 0; attempt < 2 && guess.start != 0; ++attempt) {
        Sums<parts> sums;
        switch (guess.splits) {
            case 0:
                sums = extract<0, parts>(values, count, guess.start, extent);
                break;
            case 1:
                sums = extract<1, parts>(values, count, guess.start, extent);
                break;
            case 2:
                sums = extract<2, parts>(values, count, guess.start, extent);
                break;
            default:
                sums = extract<most_splits, parts>(values, count, guess.start, extent);
        }
        learn(guess, extent);
        if (std::ranges::all_of(sums, &BlockSum::whole)) return sums;
    }
    Sums<parts> none;
    for (BlockSum& sum : none) sum.whole = false;
    return none;
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

HOCKET_INLINE void alternate_lanes(const double* from, std::int64_t count, double* to) {
    std::int64_t k = 0;
    // The last vector would read one number beyond those taken.
    for (; k + 8 < count; k += 8) {
        Vector first, second;
        load(first, from + 2 * k);
        load(second, from + 2 * k + 8);
        const Vector taken = __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
        std::memcpy(to + k, &taken, sizeof taken);
    }
    for (; k < count; ++k) to[k] = from[2 * k];
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
        template <std::size_t parts, class T>                                                     \
        attribute static Sums<parts> sum(const T* values, std::int64_t count, Guess& guess) {     \
            return sum_lanes<parts>(values, count, guess);                                        \
        }                                                                                         \
        template <class T>                                                                        \
        attribute static void columns(std::span<const void* const> rows, std::int64_t count,      \
                                      double* guesses, ColumnSums& sums) {                        \
            all_columns<T>(rows, count, guesses, sums);                                           \
        }                                                                                         \
        template <class T>                                                                        \
        attribute static void wide_columns(std::span<const void* const> rows, std::int64_t count, \
                                           double* guesses, ColumnSums& sums) {                   \
            columns_lanes<3, T>(rows, 0, count, guesses, sums);                                   \
        }                                                                                         \
        attribute static bool join(const ColumnSums& sums, std::int64_t columns,                  \
                                   ColumnSums& totals, std::int64_t* broken) {                    \
            return join_lanes(sums, columns, totals, broken);                                     \
        }                                                                                         \
        attribute static bool multiply(const double* x, const double* y, std::int64_t count,      \
                                       double* products, double* errors) {                        \
            const bool exact = multiply_lanes(x, y, count, products);                             \
            Target::errors(x, y, count, products, errors);                                        \
            return exact;                                                                         \
        }                                                                                         \
        attribute static void alternate(const double* from, std::int64_t count, double* to) {     \
            alternate_lanes(from, count, to);                                                     \
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

template <std::size_t parts, class T>
Sums<parts> sums_of(const T* values, std::int64_t count, Guess& guess) {
    return dispatch([&]<class Functions>(Functions) {
        return Functions::template sum<parts>(values, count, guess);
    });
}

}  // namespace

BlockSum sum_block(const double* values, std::int64_t count, Guess& guess) {
    return sums_of<1>(values, count, guess)[0];
}
BlockSum sum_block(const float* values, std::int64_t count, Guess& guess) {
    return sums_of<1>(values, count, guess)[0];
}
std::array<BlockSum, 2> sum_parts(const double* values, std::int64_t count, Guess& guess) {
    return sums_of<2>(values, count, guess);
}
std::array<BlockSum, 2> sum_parts(const float* values, std::int64_t count, Guess& guess) {
    return sums_of<2>(values, count, guess);
}
void sum_columns(std::span<const void* const> rows, bool single, std::int64_t columns,
                 double* guesses, ColumnSums& sums) {
    dispatch([=, &sums]<class Functions>(Functions) {
        if (single)
            Functions::template columns<float>(rows, columns, guesses, sums);
        else
            Functions::template columns<double>(rows, columns, guesses, sums);
    });
}
void sum_wide_columns(std::span<const void* const> rows, bool single, std::int64_t columns,
                      double* guesses, ColumnSums& sums) {
    dispatch([=, &sums]<class Functions>(Functions) {
        if (single)
            Functions::template wide_columns<float>(rows, columns, guesses, sums);
        else
            Functions::template wide_columns<double>(rows, columns, guesses, sums);
    });
}
bool join_columns(const ColumnSums& sums, std::int64_t columns, ColumnSums& totals,
                  std::int64_t* broken) {
    return dispatch([&](auto functions) { return functions.join(sums, columns, totals, broken); });
}
bool multiply_block(const double* x, const double* y, std::int64_t count, double* products,
                    double* errors) {
    return dispatch(
        [=](auto functions) { return functions.multiply(x, y, count, products, errors); });
}
void take_alternate(const double* from, std::int64_t count, double* to) {
    dispatch([=](auto functions) { functions.alternate(from, count, to); });
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
