// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/moved_rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/pool.hpp"

namespace hocket::kernel {
namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

std::vector<MovedRows::Range> ranges_of(const MovedRows& rows, int threads) {
    const std::int64_t count = std::min<std::int64_t>(threads, rows.count);
    std::vector<MovedRows::Range> out;
    for (std::int64_t k = 0; k < count; ++k)
        out.emplace_back(rows, rows.count * k / count, rows.count * (k + 1) / count);
    return out;
}

}  // namespace

MovedRows::Range::Range(const MovedRows& of, std::int64_t first, std::int64_t last)
    : of_(of),
      begin_(first == 0 ? 0 : of.from.at(first)),
      end_(last == of.count ? INT64_MAX : of.from.at(last)),
      below_at_(of.to.at(first)),
      above_at_(std::max(end_, below_at_)) {
    const std::int64_t end = of.to.at(last - 1) + of.to.block;
    below_ = std::max<std::int64_t>(std::min(begin_, end) - below_at_, 0);
    above_ = std::max<std::int64_t>(end - above_at_, 0);
}

/// The first block after which the rows of either set of positions end.
std::int64_t MovedRows::Range::row_end(std::int64_t block) const {
    std::int64_t end = of_.count;
    for (const BlockPositions& each : {of_.from, of_.to})
        if (each.gaps()) end = std::min(end, (block / each.in_row + 1) * each.in_row);
    return end;
}

std::int64_t MovedRows::Range::row_begin(std::int64_t block) const {
    std::int64_t begin = 0;
    for (const BlockPositions& each : {of_.from, of_.to})
        if (each.gaps()) begin = std::max(begin, block / each.in_row * each.in_row);
    return begin;
}

void MovedRows::Range::move(std::byte* array, std::int64_t first, std::int64_t last) {
    if (!waiting_ && waiting_bytes() > 0)
        waiting_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(waiting_bytes()));
    const auto up = [&](std::int64_t block) { return of_.to.at(block) > of_.from.at(block); };
    for (std::int64_t k = first; k < last;) {
        std::int64_t end = std::min(row_end(k), last);
        if (!up(k)) {
            move_piece(array, k, end);
            k = end;
            continue;
        }
        while (end < last && up(end)) end = std::min(row_end(end), last);
        for (std::int64_t begin, behind = end; behind > k; behind = begin) {
            begin = std::max(row_begin(behind - 1), k);
            move_piece(array, begin, behind);
        }
        k = end;
    }
}

/// Blocks of one row before and after.
void MovedRows::Range::move_piece(std::byte* array, std::int64_t first, std::int64_t last) {
    const std::int64_t from = of_.from.at(first), to = of_.to.at(first);
    const std::int64_t bytes = (last - first) * of_.from.block;
    if (from == to) return;
    const std::int64_t below = std::clamp<std::int64_t>(begin_ - to, 0, bytes);
    const std::int64_t inside = std::clamp<std::int64_t>(end_ - to, 0, bytes);
    if (inside < bytes)
        copy_bytes(waiting_.get() + below_ + (to + inside - above_at_), array + from + inside,
                   bytes - inside);
    if (below > 0) copy_bytes(waiting_.get() + (to - below_at_), array + from, below);
    if (below < inside)
        std::memmove(array + to + below, array + from + below,
                     static_cast<std::size_t>(inside - below));
}

void MovedRows::Range::write_waiting(std::byte* array) const {
    if (below_ > 0) copy_bytes(array + below_at_, waiting_.get(), below_);
    if (above_ > 0) copy_bytes(array + above_at_, waiting_.get() + below_, above_);
}

std::int64_t MovedRows::distance() const {
    const auto gap = [](const BlockPositions& of) {
        return of.gaps() ? of.pitch - of.in_row * of.block : 0;
    };
    const std::int64_t last = count - 1;
    return std::abs(to.at(last) - from.at(last)) + std::max(gap(from), gap(to));
}

std::int64_t MovedRows::memory(int threads) const {
    std::int64_t sum = 0;
    for (const Range& range : ranges_of(*this, threads)) sum += range.waiting_bytes();
    return sum;
}

void MovedRows::run(std::byte* array, int threads) const {
    std::vector<Range> ranges = ranges_of(*this, threads);
    base::parallel_for(threads, std::ssize(ranges), [&](std::int64_t k) {
        const std::int64_t all = std::ssize(ranges);
        ranges[static_cast<std::size_t>(k)].move(array, count * k / all, count * (k + 1) / all);
    });
    for (const Range& range : ranges) range.write_waiting(array);
}

}  // namespace hocket::kernel
