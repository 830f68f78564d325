// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/short_runs.hpp"

#if defined(__x86_64__)

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 warns in its own intrinsics
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "kernel/cpu.hpp"

#define HOCKET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace hocket::kernel {
namespace {

constexpr std::int64_t word = 4;  // lanes are words of 4 bytes
constexpr std::int64_t line_bytes = 64, lanes = line_bytes / word;
constexpr std::int64_t least_count = 128;  // below, the table of masks does not pay

/// One cache line of the spaced side: the words that belong to runs, and the number of words before
/// it.
struct Line {
    __mmask16 spaced = 0, together = 0;
    std::int64_t bytes = 0;  // in runs

    Line() = default;
    explicit Line(unsigned mask)
        : spaced(static_cast<__mmask16>(mask)),
          together(static_cast<__mmask16>((1u << std::popcount(mask)) - 1)),
          bytes(std::popcount(mask) * word) {}
};

/// The spaced side of a loop, line by line.
class ShortRuns {
  public:
    ShortRuns(const std::byte* position, std::int64_t count, std::int64_t stride, std::int64_t run)
        : stride_(stride), run_(run) {
        // Cache lines of memory, the first of which may begin before the first run: stores that
        // cross lines take twice as long.
        const auto address = reinterpret_cast<std::uintptr_t>(position);
        lead_ = address % word == 0 ? static_cast<std::int64_t>(address % line_bytes) : 0;
        lines_ = (lead_ + (count - 1) * stride + run) / line_bytes;
        end_ = lines_ > 0 ? lines_ * line_bytes - lead_ : 0;
        period_ = static_cast<std::size_t>(stride / std::gcd(stride, line_bytes));
        for (std::size_t k = 0; k < period_; ++k)
            lines_of_[k] = Line(mask_at(static_cast<std::int64_t>(k) * line_bytes - lead_));
        first_ = Line(mask_at(-lead_) & ~((1u << (lead_ / word)) - 1));
    }
    std::int64_t lead() const { return lead_; }  // bytes before the first run

    /// Calls each(line) for all lines that contain nothing beyond the last run.
    template <class Each>
    HOCKET_AVX512 void for_lines(Each&& each) const {
        if (lines_ == 0) return;
        each(first_);
        switch (period_) {
            case 1:
                return for_later_lines<1>(each);
            case 2:
                return for_later_lines<2>(each);
            case 3:
                return for_later_lines<3>(each);
            default:
                for_later_lines<0>(each);
        }
    }
    /// Copies the remaining parts of runs, one by one.
    void copy_rest(const std::byte* source, std::byte* destination, std::int64_t count,
                   std::int64_t source_stride, std::int64_t destination_stride) const {
        std::int64_t skip = std::min(end_ % stride_, run_);
        for (std::int64_t k = end_ / stride_; k < count; ++k, skip = 0)
            std::memcpy(destination + k * destination_stride + skip,
                        source + k * source_stride + skip, static_cast<std::size_t>(run_ - skip));
    }

  private:
    /// A small number of masks stays in registers if the compiler knows it.
    template <std::size_t period, class Each>
    HOCKET_AVX512 void for_later_lines(Each& each) const {
        std::int64_t k = 1;
        if constexpr (period > 0) {
            std::array<Line, period> at;
            for (std::size_t i = 0; i < period; ++i) at[i] = lines_of_[(i + 1) % period];
            constexpr auto step = static_cast<std::int64_t>(period);
            for (; k + step <= lines_; k += step) {
                each(at[0]);
                if constexpr (period > 1) each(at[1]);
                if constexpr (period > 2) each(at[2]);
            }
        }
        std::size_t now = static_cast<std::size_t>(k) % period_;
        for (; k < lines_; ++k) {
            each(lines_of_[now]);
            now = now + 1 == period_ ? 0 : now + 1;
        }
    }

    /// For the line that begins `offset` bytes after the first run (negative: before it).
    unsigned mask_at(std::int64_t offset) const {
        unsigned mask = 0;
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            if ((offset + lane * word + line_bytes * stride_) % stride_ < run_) mask |= 1u << lane;
        return mask;
    }

    std::int64_t stride_, run_, lead_ = 0, lines_ = 0, end_ = 0;
    std::size_t period_ = 1;
    std::array<Line, lanes> lines_of_;
    Line first_;
};

/// Contiguous runs to spaced ones.
HOCKET_AVX512 void spread(const std::byte* source, std::byte* destination, std::int64_t count,
                          std::int64_t source_stride, std::int64_t destination_stride,
                          std::int64_t run) {
    const ShortRuns short_runs(destination, count, destination_stride, run);
    const std::byte* from = source;
    std::byte* to = destination - short_runs.lead();
    short_runs.for_lines([&](const Line& now) HOCKET_AVX512 {
        const __m512i words = _mm512_maskz_loadu_epi32(now.together, from);
        _mm512_mask_storeu_epi32(to, now.spaced, _mm512_maskz_expand_epi32(now.spaced, words));
        from += now.bytes;
        to += line_bytes;
    });
    short_runs.copy_rest(source, destination, count, source_stride, destination_stride);
}

/// Spaced runs to contiguous ones.
HOCKET_AVX512 void collect(const std::byte* source, std::byte* destination, std::int64_t count,
                           std::int64_t source_stride, std::int64_t destination_stride,
                           std::int64_t run) {
    const ShortRuns short_runs(source, count, source_stride, run);
    const std::byte* from = source - short_runs.lead();
    std::byte* to = destination;
    short_runs.for_lines([&](const Line& now) HOCKET_AVX512 {
        const __m512i words = _mm512_maskz_loadu_epi32(now.spaced, from);
        _mm512_mask_storeu_epi32(to, now.together, _mm512_maskz_compress_epi32(now.spaced, words));
        from += line_bytes;
        to += now.bytes;
    });
    short_runs.copy_rest(source, destination, count, source_stride, destination_stride);
}

}  // namespace

RunLoop select_short_run_loop(std::int64_t count, std::int64_t source_stride,
                              std::int64_t destination_stride, std::int64_t run) {
    const bool spreads = source_stride == run, collects = destination_stride == run;
    const std::int64_t stride = spreads ? destination_stride : source_stride;
    if (spreads == collects || stride <= run || stride > line_bytes || (run | stride) % word != 0 ||
        count < least_count || cpu_level() != CpuLevel::avx512)
        return nullptr;
    return spreads ? spread : collect;
}

}  // namespace hocket::kernel

#else

namespace hocket::kernel {

RunLoop select_short_run_loop(std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
    return nullptr;
}

}  // namespace hocket::kernel

#endif
