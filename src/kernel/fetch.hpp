// SPDX-License-Identifier: BSD-3-Clause
// Software prefetching.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Prefetches the next rows into the second-level cache while the kernel works on others.
///
/// A core supports few outstanding lines (here 10 GB/s, read and written, however early it
/// prefetches). The hardware prefetcher of the second-level cache supports more (25 GB/s), but it
/// follows one page from line to line, and stops at its end. So this class prefetches line after
/// line, of several rows or pages at once: one alone gives 18 GB/s. (Measured.)
class Prefetcher {
  public:
    Prefetcher() = default;  // prefetches nothing
    /// `rows` rows of `bytes` bytes, `pitch` bytes apart. All prefetches are issued a little before
    /// `work` bytes of other work are done.
    Prefetcher(const std::byte* first, std::int64_t rows, std::int64_t pitch, std::int64_t bytes,
               std::int64_t work)
        : row_(first),
          rows_(rows),
          pitch_(pitch),
          lines_(bytes / line + 1),
          due_each_(rows * lines_),
          work_(work / 8 * 7 + 1) {}
    /// Contiguous memory.
    Prefetcher(const std::byte* first, std::int64_t bytes, std::int64_t work)
        : Prefetcher(first, bytes / page + 1, page, page - 1, work) {}

    /// Memory that the kernel processes from one end to the other: prefetches `distance` bytes
    /// ahead. (If processing a line takes as long as fetching it, 64 KiB are enough.)
    static Prefetcher along(const std::byte* first, std::int64_t bytes, std::int64_t distance) {
        Prefetcher out(first, bytes, bytes);
        out.due_each_ = 1;
        out.work_ = line;
        out.worked(distance);
        return out;
    }

    /// Call it during the work, with the bytes done since the last call.
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

    const std::byte* row_ = nullptr;  // the first of the concurrent rows
    std::int64_t rows_ = 0, pitch_ = 0, lines_ = 0;
    std::int64_t due_each_ = 0, work_ = 1, due_ = 0;
    std::int64_t abreast_ = 0, at_ = 0;
};

}  // namespace hocket::kernel
