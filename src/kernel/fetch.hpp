// SPDX-License-Identifier: BSD-3-Clause
// Memory asked for ahead of its use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Rows that are worked on next, brought to the second-level cache while others are worked on.
///
/// A core by itself has few lines on their way (here 10 GB/s, read and written, however early it
/// asks). The prefetcher of the second-level cache has more (25 GB/s), but it follows a page from
/// line to line, and ends with it. So rows are asked for line after line, and several rows, or
/// pages of long ones, abreast: one alone gives 18 GB/s. (Measured.)
class Prefetcher {
  public:
    Prefetcher() = default;  // nothing is asked for
    /// `rows` rows of `bytes` bytes, `pitch` bytes apart. All have been asked for a little before
    /// `work` bytes of something else are done.
    Prefetcher(const std::byte* first, std::int64_t rows, std::int64_t pitch, std::int64_t bytes,
               std::int64_t work)
        : row_(first),
          rows_(rows),
          pitch_(pitch),
          lines_(bytes / line + 1),
          due_each_(rows * lines_),
          work_(work / 8 * 7 + 1) {}
    /// Memory that lies together.
    Prefetcher(const std::byte* first, std::int64_t bytes, std::int64_t work)
        : Prefetcher(first, bytes / page + 1, page, page - 1, work) {}

    /// Memory that is worked on from one end to the other: what lies `distance` bytes ahead of the
    /// work. (Where what is done with a line takes as long as fetching it, 64 KiB are enough.)
    static Prefetcher along(const std::byte* first, std::int64_t bytes, std::int64_t distance) {
        Prefetcher out(first, bytes, bytes);
        out.due_each_ = 1;
        out.work_ = line;
        out.worked(distance);
        return out;
    }

    /// To be called as the work goes on, with what was done since the last call.
    void worked(std::int64_t bytes) {
        if (rows_ <= 0) return;
        due_ += bytes * due_each_;
        for (; due_ >= work_; due_ -= work_) ask();
    }

  private:
    static constexpr std::int64_t line = 64, page = 4096, most_abreast = 8;

    void ask() {
        if (rows_ <= 0) return;
        __builtin_prefetch(row_ + abreast_ * pitch_ + at_ * line, 0, 2);
        ++abreast_;
        if (abreast_ < most_abreast && abreast_ < rows_) return;
        abreast_ = 0;
        if (++at_ < lines_) return;
        at_ = 0;
        row_ += most_abreast * pitch_;
        rows_ -= most_abreast;
    }

    const std::byte* row_ = nullptr;  // the first of those abreast
    std::int64_t rows_ = 0, pitch_ = 0, lines_ = 0;
    std::int64_t due_each_ = 0, work_ = 1, due_ = 0;
    std::int64_t abreast_ = 0, at_ = 0;
};

}  // namespace hocket::kernel
