// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/columns.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernel/cpu.hpp"
#include "kernel/exact_sizes.hpp"

namespace hocket::kernel {
namespace {

template <Fold op, class T>
HOCKET_INLINE T folded(T a, T b) {
    if constexpr (op == Fold::sum) return static_cast<T>(a + b);
    // Two choices, so that compilers find vectors for them.
    const T other = (op == Fold::least ? a < b : a > b) ? a : b;
    // NaN stays.
    if constexpr (std::is_floating_point_v<T>)
        return a != a ? a : other;  // NOLINT(misc-redundant-expression)
    return other;
}

// `step`: between columns, in numbers; 0: as `from` says.
template <Fold op, int together, int step, class T>
HOCKET_INLINE void fold_rows(T* __restrict results, const char* rows, const Rows& from) {
    const T* at[together];
#pragma GCC unroll 8
    for (int row = 0; row < together; ++row)
        at[row] = reinterpret_cast<const T*>(rows + row * from.row_stride);
    const std::int64_t columns = from.columns;
    const std::int64_t apart =
        step != 0 ? step : from.column_stride / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t c = 0; c < columns; ++c) {
        T result = results[c];
#pragma GCC unroll 8
        for (int row = 0; row < together; ++row) result = folded<op>(result, at[row][c * apart]);
        results[c] = result;
    }
}

template <Fold op, int step, class T>
HOCKET_INLINE void fold_by(T* results, const Rows& from) {
    constexpr int together = 8;  // rows that are read each time that the results are
    const auto* rows = static_cast<const char*>(from.first);
    std::int64_t row = 0;
    for (; row + together <= from.rows; row += together, rows += together * from.row_stride)
        fold_rows<op, together, step>(results, rows, from);
    for (; row < from.rows; ++row, rows += from.row_stride)
        fold_rows<op, 1, step>(results, rows, from);
}

template <Fold op, class T>
HOCKET_INLINE void fold(void* results, const Rows& from) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    auto* const into = static_cast<T*>(results);
    if (from.column_stride == size) return fold_by<op, 1>(into, from);
    if (from.column_stride == 2 * size) return fold_by<op, 2>(into, from);
    fold_by<op, 0>(into, from);
}

// Whether one of some bytes is 0, or is not.
template <bool zero>
HOCKET_INLINE bool search(const std::uint8_t* bytes, std::int64_t count) {
    using Bytes __attribute__((vector_size(32))) = std::uint8_t;
    using Words __attribute__((vector_size(32))) = long long;
    constexpr std::int64_t wide = sizeof(Bytes), together = 16;  // vectors between two tests
    std::int64_t k = 0;
    for (; k + together * wide <= count; k += together * wide) {
        Bytes found;
        std::memcpy(&found, bytes + k, wide);
#pragma GCC unroll 16
        for (std::int64_t v = 1; v < together; ++v) {
            Bytes more;
            std::memcpy(&more, bytes + k + v * wide, wide);
            if constexpr (zero)
                found = more < found ? more : found;
            else
                found |= more;
        }
        const auto words = zero ? (Words)(found == 0) : (Words)found;
        if ((words[0] | words[1] | words[2] | words[3]) != 0) return true;
    }
    for (; k < count; ++k)
        if ((bytes[k] == 0) == zero) return true;
    return false;
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define HOCKET_FUNCTIONS(name, attribute)                                          \
    struct name {                                                                  \
        template <Fold op, class T>                                                \
        attribute static void columns(void* results, const Rows& from) {           \
            fold<op, T>(results, from);                                            \
        }                                                                          \
        template <bool zero>                                                       \
        attribute static bool any(const std::uint8_t* bytes, std::int64_t count) { \
            return search<zero>(bytes, count);                                     \
        }                                                                          \
    };
// NOLINTEND(bugprone-macro-parentheses)
HOCKET_FUNCTIONS(Portable, )
#if defined(__x86_64__)
HOCKET_FUNCTIONS(Avx2, __attribute__((target("avx2"))))
HOCKET_FUNCTIONS(Avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))))
#endif

// Calls f with the functions for this processor.
template <class F>
auto dispatch(F&& f) {
#if defined(__x86_64__)
    if (cpu_level() == CpuLevel::avx512) return f(Avx512());
    if (cpu_level() == CpuLevel::avx2) return f(Avx2());
#endif
    return f(Portable());
}

template <Fold op, class Body>
void with_type(NumberKind kind, std::int64_t itemsize, const Body& body) {
    // Sums need no sign: they wrap around.
    if (op != Fold::sum && kind == NumberKind::real)
        return itemsize == 4 ? body(float{}) : body(double{});
    if (op != Fold::sum && kind == NumberKind::integer) {
        if (itemsize == 1) return body(std::int8_t{});
        if (itemsize == 2) return body(std::int16_t{});
        if (itemsize == 4) return body(std::int32_t{});
        return body(std::int64_t{});
    }
    if (itemsize == 1) return body(std::uint8_t{});
    if (itemsize == 2) return body(std::uint16_t{});
    if (itemsize == 4) return body(std::uint32_t{});
    body(std::uint64_t{});
}

template <Fold op>
void fold_as(NumberKind kind, std::int64_t itemsize, void* results, const Rows& rows) {
    with_type<op>(kind, itemsize, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (op != Fold::sum || std::is_unsigned_v<T>)
            dispatch([&]<class Functions>(Functions) {
                Functions::template columns<op, T>(results, rows);
            });
    });
}

}  // namespace

void fold_columns(Fold fold, NumberKind kind, std::int64_t itemsize, void* results,
                  const Rows& rows) {
    if (fold == Fold::sum) return fold_as<Fold::sum>(kind, itemsize, results, rows);
    if (fold == Fold::least) return fold_as<Fold::least>(kind, itemsize, results, rows);
    fold_as<Fold::greatest>(kind, itemsize, results, rows);
}

bool all_true(const std::uint8_t* truths, std::int64_t count) {
    return !dispatch(
        [=]<class Functions>(Functions) { return Functions::template any<true>(truths, count); });
}

bool any_true(const std::uint8_t* truths, std::int64_t count) {
    return dispatch(
        [=]<class Functions>(Functions) { return Functions::template any<false>(truths, count); });
}

}  // namespace hocket::kernel
