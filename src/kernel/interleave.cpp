// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/interleave.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernel/cpu.hpp"
#include "kernel/runs_of.hpp"
#include "kernel/stream.hpp"

#if defined(__x86_64__)
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 warns in its own intrinsics
#endif
#include <immintrin.h>
#define HOCKET_WEAVES __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#endif

namespace hocket::kernel {
namespace {

constexpr std::int64_t line_bytes = 64, word_bytes = 4;
constexpr std::int64_t least_turns = 64;  // below, most of the lines are at the ends

#if defined(__x86_64__)

constexpr std::size_t most_strands = line_bytes / word_bytes;

/// The whole lines of one group of interleaved runs: the words of each source in a line, and its
/// next read position.
struct Lines {
    std::array<const std::byte*, most_strands> from;
    std::array<__mmask16, most_strands> words;
    std::int64_t bytes;  // of one source in a line
};

// The compiler knows a small number of sources, because masks and positions then stay in registers.
template <std::size_t few>
HOCKET_WEAVES void weave_lines(Lines at, std::byte* to, std::int64_t lines, std::size_t many) {
    const std::size_t copies = few > 0 ? few : many;
    const auto together = static_cast<__mmask16>((1u << (at.bytes / word_bytes)) - 1);
    for (std::int64_t line = 0; line < lines; ++line, to += line_bytes) {
        __m512i woven = _mm512_setzero_si512();
        for (std::size_t k = 0; k < copies; ++k) {
            const __m512i words = _mm512_maskz_loadu_epi32(together, at.from[k]);
            woven = _mm512_or_si512(woven, _mm512_maskz_expand_epi32(at.words[k], words));
            at.from[k] += at.bytes;
        }
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), woven);
    }
}

#endif

}  // namespace

std::optional<InterleavedCopy> InterleavedCopy::of(std::span<const OffsetCopy* const> copies) {
    const auto many = static_cast<std::int64_t>(copies.size());
    if (many < 2 || cpu_level() != CpuLevel::avx512) return std::nullopt;
    InterleavedCopy interleaved;
    interleaved.run_ = RunsOf(copies[0]->copy).bytes();
    const std::int64_t stride = many * interleaved.run_;
    if (interleaved.run_ % word_bytes != 0 || stride > line_bytes || line_bytes % stride != 0)
        return std::nullopt;
    std::vector<std::int64_t> positions;
    interleaved.turns_ = std::int64_t{1} << 62;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        const RunsOf runs(copies[i]->copy);
        if (runs.bytes() != interleaved.run_ || runs.loops().empty()) return std::nullopt;
        const Loop& loop = runs.loops().back();
        if (loop.source != interleaved.run_ || loop.destination != stride) return std::nullopt;
        positions.push_back(copies[i]->destination_offset + runs.destination_first());
        Placed placed{i, copies[i]->source_offset + runs.source_first(), loop.extent, {}};
        std::vector<Around> around;
        for (std::size_t d = 0; d + 1 < runs.loops().size(); ++d) {
            const Loop& outer = runs.loops()[d];
            around.push_back({outer.extent, outer.destination});
            placed.steps.push_back(outer.source);
        }
        if (i == 0) interleaved.around_ = around;
        if (interleaved.around_ != around) return std::nullopt;
        interleaved.placed_.push_back(std::move(placed));
        interleaved.turns_ = std::min(interleaved.turns_, loop.extent);
    }
    if (interleaved.turns_ < least_turns) return std::nullopt;
    interleaved.first_ = *std::min_element(positions.begin(), positions.end());
    std::vector<Placed> ordered(interleaved.placed_.size());
    std::vector<bool> taken(interleaved.placed_.size(), false);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::int64_t offset = positions[i] - interleaved.first_;
        if (offset % interleaved.run_ != 0 || offset >= stride) return std::nullopt;
        const auto k = static_cast<std::size_t>(offset / interleaved.run_);
        if (taken[k]) return std::nullopt;
        taken[k] = true;
        ordered[k] = interleaved.placed_[i];
    }
    interleaved.placed_ = std::move(ordered);
    return interleaved;
}

void InterleavedCopy::run(std::span<const std::byte* const> sources, std::byte* destination) const {
    Sources from;
    for (const Placed& runs_of_copy : placed_)
        from.push_back(sources[runs_of_copy.source] + runs_of_copy.source_offset);
    std::byte* to = destination + first_;
    std::vector<std::int64_t> at(around_.size(), 0);
    const auto move = [&](std::size_t d, std::int64_t by) {
        to += by * around_[d].step;
        for (std::size_t k = 0; k < from.size(); ++k) from[k] += by * placed_[k].steps[d];
    };
    while (true) {
        run_row(from, to);
        std::size_t d = around_.size();
        for (; d > 0; --d) {
            move(d - 1, 1);
            if (++at[d - 1] < around_[d - 1].extent) break;
            move(d - 1, -around_[d - 1].extent);
            at[d - 1] = 0;
        }
        if (d == 0) break;
    }
    stream_fence();
}

void InterleavedCopy::run_row(const Sources& sources, std::byte* to) const {
    const auto many = static_cast<std::int64_t>(placed_.size());
    const std::int64_t stride = many * run_;
    const auto from = [&](std::int64_t k, std::int64_t turn) {
        return sources[static_cast<std::size_t>(k)] + turn * run_;
    };
    // In the order of a run's position in the destination.
    const auto copy_runs = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            std::memcpy(to + i * run_, from(i % many, i / many), static_cast<std::size_t>(run_));
    };
    const std::int64_t all = turns_ * many;
    std::int64_t woven = 0;
#if defined(__x86_64__)
    const auto before = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) & 63);
    if (before % run_ == 0) {  // otherwise no line begins at a run
        const std::int64_t lead = before / run_;
        const std::int64_t lines = (all - lead) * run_ / line_bytes;
        copy_runs(0, lead);
        Lines at{};
        at.bytes = line_bytes / many;
        for (std::int64_t k = 0; k < many; ++k) {
            const std::int64_t ahead = (k - lead % many + many) % many;  // runs of a line before it
            const auto index = static_cast<std::size_t>(k);
            at.from[index] = from(k, (lead + ahead) / many);
            unsigned words = 0;
            for (std::int64_t run = ahead * run_; run < line_bytes; run += stride)
                for (std::int64_t byte = run; byte < run + run_; byte += word_bytes)
                    words |= 1u << (byte / word_bytes);
            at.words[index] = static_cast<__mmask16>(words);
        }
        const auto interleaved = many == 2   ? weave_lines<2>
                                 : many == 4 ? weave_lines<4>
                                             : weave_lines<0>;
        interleaved(at, to + lead * run_, lines, placed_.size());
        woven = lead + lines * line_bytes / run_;
    }
#endif
    copy_runs(woven, all);
    for (std::int64_t k = 0; k < many; ++k)
        for (std::int64_t turn = turns_; turn < placed_[static_cast<std::size_t>(k)].count; ++turn)
            std::memcpy(to + turn * stride + k * run_, from(k, turn),
                        static_cast<std::size_t>(run_));
}

}  // namespace hocket::kernel
