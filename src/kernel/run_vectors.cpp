// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/run_vectors.hpp"

#if defined(__x86_64__)

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 warns in its own intrinsics
#endif
#include <immintrin.h>

#include <array>
#include <cstddef>
#include <utility>

#include "kernel/cpu.hpp"

#define HOCKET_AVX2 __attribute__((target("avx2")))

namespace hocket::kernel {
namespace {

constexpr std::int64_t vector = 32, longest_unrolled = 512;

HOCKET_AVX2 inline void copy_vector(std::byte* destination, const std::byte* source) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(destination),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source)));
}

/// Runs of `whole` vectors, and a last one that overlaps these.
template <std::size_t whole>
HOCKET_AVX2 void loop_of_vectors(const std::byte* source, std::byte* destination,
                                 std::int64_t count, std::int64_t source_stride,
                                 std::int64_t destination_stride, std::int64_t run) {
    const std::int64_t last = run - vector;
    for (std::int64_t k = 0; k < count; ++k) {
#pragma GCC unroll 16
        for (std::int64_t at = 0; at < static_cast<std::int64_t>(whole) * vector; at += vector)
            copy_vector(destination + at, source + at);
        copy_vector(destination + last, source + last);
        source += source_stride;
        destination += destination_stride;
    }
}

HOCKET_AVX2 void loop_of_long_runs(const std::byte* source, std::byte* destination,
                                   std::int64_t count, std::int64_t source_stride,
                                   std::int64_t destination_stride, std::int64_t run) {
    constexpr std::int64_t step = 4 * vector;
    for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t at = 0;
        for (; at + step <= run; at += step) {
#pragma GCC unroll 4
            for (std::int64_t v = 0; v < step; v += vector)
                copy_vector(destination + at + v, source + at + v);
        }
        for (; at < run - vector; at += vector) copy_vector(destination + at, source + at);
        copy_vector(destination + run - vector, source + run - vector);
        source += source_stride;
        destination += destination_stride;
    }
}

template <std::size_t... whole>
constexpr auto unrolled_loops(std::index_sequence<whole...>) {
    return std::array<RunLoop, sizeof...(whole)>{loop_of_vectors<whole>...};
}
constexpr auto unrolled = unrolled_loops(std::make_index_sequence<longest_unrolled / vector>());

}  // namespace

RunLoop select_vector_run_loop(std::int64_t run) {
    // With AVX-512 the C library's copy has wider registers; these loops are not measured there.
    if (run < vector || run > longest_vector_run || cpu_level() != CpuLevel::avx2) return nullptr;
    const auto whole = static_cast<std::size_t>((run - 1) / vector);
    return whole < unrolled.size() ? unrolled[whole] : loop_of_long_runs;
}

}  // namespace hocket::kernel

#else

namespace hocket::kernel {

RunLoop select_vector_run_loop(std::int64_t) {
    return nullptr;
}

}  // namespace hocket::kernel

#endif
