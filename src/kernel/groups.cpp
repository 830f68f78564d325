// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/groups.hpp"

#include "base/checked.hpp"
#include "hocket/kernel.hpp"
#include "kernel/permutation.hpp"
#include "kernel/ranges.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"

namespace hocket::kernel {

using base::ceil_div;

double Groups::cost_of_copies() const {
    const auto longer = std::count_if(ordered.extents.begin(), ordered.extents.end(),
                                      [](std::int64_t extent) { return extent > 1; });
    return (longer > 2 ? copied(unit) : 0.0) +
           (parts.count() == 1 ? 0.0 : 0.25 + 250.0 / static_cast<double>(part));  // fitted
}

void Groups::permute(std::byte* array, bool gathers, int threads) const {
    const Offsets dense = dense_strides(ordered.extents, unit);
    // Memory serves long rows fastest, so rows go to the buffer as they are, unless blocks are in
    // parts. (Measured: up to 1.5 times as fast.)
    const bool in_order = !gathers || parts.count() == 1;
    Offsets from = in_order ? dense : ordered.strides, to = in_order ? ordered.strides : dense;
    if (in_order && gathers) {
        from = ordered.strides;
        const Offsets in_buffer = dense_strides(rows.extents, run);
        for (std::int64_t& stride : from) {
            const auto row = std::find(rows.strides.begin(), rows.strides.end(), stride);
            if (stride >= run && row != rows.strides.end())
                stride = in_buffer[static_cast<std::size_t>(row - rows.strides.begin())];
        }
        to = dense;
        std::copy(rows.strides.begin(), rows.strides.end(), to.begin());
    }
    const Copy copy(ordered.extents, unit, from, to);
    Offsets starts;
    for (std::int64_t row = 0; row < count(); ++row)
        starts.push_back(rows.offset(row / parts.count()) + parts.offset(row % parts.count()));
    // The threads share the copies of each of a few.
    const bool few = all.count() < threads && bytes() >= least_shared_bytes;
    const int sharing = few ? threads : 1;
    const auto permute_groups = [&](std::int64_t begin, std::int64_t last) {
        std::byte* const buffer = thread_scratch(Scratch::panel, bytes());
        for (std::int64_t group = begin; group < last; ++group) {
            std::byte* const first = array + all.offset(group);
            // The second-level cache also holds the next group.
            Prefetcher ahead;
            if (!few && group + 1 < last && bytes() <= least_streamed_bytes() / 8)
                ahead = Prefetcher(array + all.offset(group + 1), starts, run, bytes());
            if (!in_order) copy.run(first, buffer, sharing, Stores::cached);
            copy_rows(first, starts, buffer, !in_order, sharing, ahead);
            if (in_order) copy.run(buffer, first, sharing, Stores::cached);
        }
    };
    in_ranges(few ? 1 : threads, all.count(), all.count() * bytes(), permute_groups, more_ranges);
}

/// From the buffer to the rows of a group, or back.
void Groups::copy_rows(std::byte* group, const Offsets& starts, std::byte* buffer, bool to_rows,
                       int threads, Prefetcher& ahead) const {
    const std::int64_t in_block = parts.count(), slice = ceil_div(run, INT64_C(64) * threads) * 64;
    const std::int64_t piece = in_block > 1 ? part : slice, pieces = ceil_div(run, piece);
    in_ranges(threads, pieces, bytes(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = 0; row < std::ssize(starts); ++row) {
            std::byte* const in_row = group + starts[static_cast<std::size_t>(row)];
            std::byte* const ordered_at =
                buffer + row / in_block * in_block * run + row % in_block * piece;
            for (std::int64_t k = begin; k < end; ++k) {
                std::byte* const at = ordered_at + k * in_block * piece;
                copy_cached(to_rows ? in_row + k * piece : at, to_rows ? at : in_row + k * piece,
                            std::min(piece, run - k * piece));
            }
            ahead.worked(run);
        }
    });
}

}  // namespace hocket::kernel
