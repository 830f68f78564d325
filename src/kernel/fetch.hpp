// SPDX-License-Identifier: BSD-3-Clause
// Software prefetching.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernel/costs.hpp"

namespace hocket::kernel {

inline void fetch_line(const void* position, Fetching fetching) {
    if (fetching == Fetching::first_level)
        __builtin_prefetch(position, 0, 3);
    else
        __builtin_prefetch(position, 0, 2);
}

/// Prefetches the next rows into a cache while the kernel works on others.
///
/// Into the second level: a core supports few outstanding lines (here 10 GB/s, read and written,
/// however early it prefetches). The hardware prefetcher of the second-level cache supports more
/// (25 GB/s), but it follows one page from line to line, and stops at its end. So this class
/// prefetches line after line, of several rows or pages at once: one alone gives 18 GB/s.
/// (Measured.) Into the first level, it prefetches one row after another.
class Prefetcher {
  public:
    Prefetcher() = default;  // prefetches nothing
    /// `rows` rows of `bytes` bytes, `pitch` bytes apart. All prefetches are issued a little before
    /// `work` bytes of other work are done.
    Prefetcher(const std::byte* first, std::int64_t rows, std::int64_t pitch, std::int64_t bytes,
               std::int64_t work, Fetching fetching = distances().fetching)
        : fetching_(fetching),
          in_order_(fetching == Fetching::first_level),
          most_abreast_(in_order_ ? 1 : 8),
          row_(first),
          rows_(rows),
          pitch_(pitch),
          lines_(bytes / line + 1),
          due_each_(rows * lines_),
          work_(work / 8 * 7 + 1) {}
    /// Rows at these offsets from `first`.
    Prefetcher(const std::byte* first, std::span<const std::int64_t> rows, std::int64_t bytes,
               std::int64_t work, Fetching fetching = distances().fetching)
        : Prefetcher(first + rows[0], std::ssize(rows), 0, bytes, work, fetching) {
        first_ = first;
        listed_ = rows.data();
    }
    /// Contiguous memory: whole pages of it, or a smaller piece alone.
    Prefetcher(const std::byte* first, std::int64_t bytes, std::int64_t work)
        : Prefetcher(first, (bytes + page - 1) / page, page, std::min(bytes, page - 1), work) {}

    /// Memory that the kernel processes from one end to the other: prefetches `distance` bytes
    /// ahead. (If processing a line takes as long as fetching it, 64 KiB are enough.)
    static Prefetcher along(const std::byte* first, std::int64_t bytes, std::int64_t distance) {
        Prefetcher out(first, bytes, bytes);
        out.in_order_ = false;  // bursts would delay the kernel's own reads (measured: 40 %)
        out.due_each_ = 1;
        out.work_ = line;
        out.worked(distance);
        return out;
    }

    bool active() const { return rows_ > 0; }
    bool into_first_level() const { return rows_ > 0 && fetching_ == Fetching::first_level; }

    /// Call it during the work, with the bytes done since the last call.
    void worked(std::int64_t bytes) {
        if (rows_ <= 0) return;
        due_ += bytes * due_each_;
        if (due_ < work_) return;
        const std::int64_t lines = due_ / work_;
        due_ -= lines * work_;
        if (in_order_) return fetch_in_order(lines);
        for (std::int64_t k = 0; k < lines; ++k) ask();
    }

  private:
    static constexpr std::int64_t line = 64, page = 4096;

    /// A tight loop: panels in the first-level cache leave few instructions for each line.
    void fetch_in_order(std::int64_t lines) {
        while (lines > 0 && rows_ > 0) {
            const std::int64_t now = std::min(lines, lines_ - at_);
            const std::byte* const from = row_ + at_ * line;
            for (std::int64_t k = 0; k < now; ++k) fetch_line(from + k * line, fetching_);
            lines -= now;
            at_ += now;
            if (at_ < lines_) return;
            at_ = 0;
            --rows_;
            if (!listed_)
                row_ += pitch_;
            else if (rows_ > 0)
                row_ = first_ + *++listed_;
        }
    }
    void ask() {
        if (rows_ <= 0) return;
        const std::byte* const row =
            listed_ ? first_ + listed_[abreast_] : row_ + abreast_ * pitch_;
        fetch_line(row + at_ * line, fetching_);
        ++abreast_;
        if (abreast_ < most_abreast_ && abreast_ < rows_) return;
        abreast_ = 0;
        if (++at_ < lines_) return;
        at_ = 0;
        row_ += most_abreast_ * pitch_;
        if (listed_) listed_ += std::min(most_abreast_, rows_);
        rows_ -= most_abreast_;
    }

    Fetching fetching_ = Fetching::second_level;
    bool in_order_ = true;
    std::int64_t most_abreast_ = 1;

    const std::byte* row_ = nullptr;  // the first of the concurrent rows
    const std::byte* first_ = nullptr;
    const std::int64_t* listed_ = nullptr;  // the offsets of these rows from there
    std::int64_t rows_ = 0, pitch_ = 0, lines_ = 0;
    std::int64_t due_each_ = 0, work_ = 1, due_ = 0;
    std::int64_t abreast_ = 0, at_ = 0;
};

}  // namespace hocket::kernel
