// SPDX-License-Identifier: BSD-3-Clause
// The functions of exact_block.hpp for each level of the processor.
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
#include "kernel/exact_extract.hpp"
#include "kernel/exact_sizes.hpp"

namespace hocket::exact {
namespace {

HOCKET_INLINE void halves_lanes(const std::uint16_t* halves, std::int64_t count, double* to) {
    using Vector = Simd<64>::Vector;
    using Floats = Simd<64>::Floats;
    using Words = Simd<32>::Words;
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

template <class Vector>
HOCKET_INLINE void alternate_lanes(const double* from, std::int64_t count, double* to) {
    constexpr int wide = width<Vector>;
    std::int64_t k = 0;
    // The last vector would read one number beyond those taken.
    for (; k + wide < count; k += wide) {
        if constexpr (wide < 8) __builtin_prefetch(from + 2 * k + ahead<double>);
        Vector first, second, taken;
        load(first, from + 2 * k);
        load(second, from + 2 * k + wide);
        if constexpr (wide == 8)
            taken = __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
        else if constexpr (wide == 4)
            taken = __builtin_shufflevector(first, second, 0, 2, 4, 6);
        else
            taken = __builtin_shufflevector(first, second, 0, 2);
        std::memcpy(to + k, &taken, sizeof taken);
    }
    for (; k < count; ++k) to[k] = from[2 * k];
}

struct Portable {
    using Vector = Simd<16>::Vector;
    static void plus(const Vector& x, const Vector& y, Vector& sum) { sum = x + y; }
    static void error(const Vector& x, const Vector& y, const Vector& product, Vector& error) {
        for (int lane = 0; lane < width<Vector>; ++lane)
            error[lane] = __builtin_fma(x[lane], y[lane], -product[lane]);
    }
};

// One set of functions for each level of the processor. An attribute takes no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define HOCKET_FUNCTIONS(Target, attribute)                                                       \
    struct Target##Functions {                                                                    \
        using Vector = Target::Vector;                                                            \
        template <std::size_t parts, class T>                                                     \
        attribute static Sums<parts> sum(const T* values, std::int64_t count, Guess& guess) {     \
            return sum_lanes<Vector, parts>(Numbers<T>{values}, count, guess);                    \
        }                                                                                         \
        template <class T>                                                                        \
        attribute static void columns(std::span<const void* const> rows, std::int64_t count,      \
                                      double* guesses, ColumnSums& sums) {                        \
            all_columns<Vector, T>(rows, count, guesses, sums);                                   \
        }                                                                                         \
        template <class T>                                                                        \
        attribute static void wide_columns(std::span<const void* const> rows, std::int64_t begin, \
                                           std::int64_t count, double* guesses,                   \
                                           ColumnSums& sums) {                                    \
            columns_lanes<Vector, 3, T>(rows, begin, count, guesses, sums);                       \
        }                                                                                         \
        attribute static bool join(const ColumnSums& sums, std::int64_t columns,                  \
                                   ColumnSums& totals, std::int64_t* broken) {                    \
            return join_lanes<Vector>(sums, columns, totals, broken);                             \
        }                                                                                         \
        template <bool crossed, class T>                                                          \
        attribute static BlockSum products(const T* x, const T* y, std::int64_t count,            \
                                           Guess& guess) {                                        \
            return sum_lanes<Vector, 1>(Products<Target, crossed, T>{x, y}, count, guess)[0];     \
        }                                                                                         \
        attribute static void alternate(const double* from, std::int64_t count, double* to) {     \
            alternate_lanes<Vector>(from, count, to);                                             \
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
    using Vector = Simd<32>::Vector;
    // Zen 2 and 3 add on two units and multiply on two others: these make a third of the additions.
    HOCKET_AVX2 static void plus(const Vector& x, const Vector& y, Vector& sum) {
        sum = (Vector)_mm256_fmadd_pd((__m256d)y, _mm256_set1_pd(1.0), (__m256d)x);
    }
    HOCKET_AVX2 static void error(const Vector& x, const Vector& y, const Vector& product,
                                  Vector& error) {
        error = (Vector)_mm256_fmsub_pd((__m256d)x, (__m256d)y, (__m256d)product);
    }
};
struct Avx512 {
    using Vector = Simd<64>::Vector;
    HOCKET_AVX512 static void plus(const Vector& x, const Vector& y, Vector& sum) { sum = x + y; }
    HOCKET_AVX512 static void error(const Vector& x, const Vector& y, const Vector& product,
                                    Vector& error) {
        error = (Vector)_mm512_fmsub_pd((__m512d)x, (__m512d)y, (__m512d)product);
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

template <class T>
BlockSum products_of(const T* x, const T* y, std::int64_t count, bool crossed, Guess& guess) {
    return dispatch([&]<class Functions>(Functions) {
        if (crossed) return Functions::template products<true>(x, y, count, guess);
        return Functions::template products<false>(x, y, count, guess);
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
void sum_wide_columns(std::span<const void* const> rows, bool single, std::int64_t begin,
                      std::int64_t columns, double* guesses, ColumnSums& sums) {
    dispatch([=, &sums]<class Functions>(Functions) {
        if (single)
            Functions::template wide_columns<float>(rows, begin, columns, guesses, sums);
        else
            Functions::template wide_columns<double>(rows, begin, columns, guesses, sums);
    });
}
bool join_columns(const ColumnSums& sums, std::int64_t columns, ColumnSums& totals,
                  std::int64_t* broken) {
    return dispatch([&](auto functions) { return functions.join(sums, columns, totals, broken); });
}
BlockSum sum_products(const double* x, const double* y, std::int64_t count, bool crossed,
                      Guess& guess) {
    return products_of(x, y, count, crossed, guess);
}
BlockSum sum_products(const float* x, const float* y, std::int64_t count, bool crossed,
                      Guess& guess) {
    return products_of(x, y, count, crossed, guess);
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
