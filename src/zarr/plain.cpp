// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/plain.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <span>
#include <utility>

#include "hocket/kernel.hpp"
#include "kernel/permutation.hpp"

namespace hocket::zarr {
namespace {

// For shorter runs, the system's list of them takes longer than a copy within the cache.
constexpr std::int64_t long_run = 1 << 10;
constexpr std::size_t most_runs = IOV_MAX;  // of a system call
constexpr std::int64_t piece_bytes = std::int64_t{256} << 10;

}  // namespace

Plain::Plain(const Shape& extents, const Shape& strides, const std::vector<std::size_t>& order,
             std::int64_t itemsize, std::byte* first)
    : first_(first), itemsize_(itemsize), run_(itemsize), loops_(order.size()) {
    for (const std::size_t d : order) {
        extents_.push_back(extents[d]);
        strides_.push_back(strides[d]);
    }
    for (; loops_ > 0; --loops_) {
        if (extents_[loops_ - 1] != 1 && strides_[loops_ - 1] != run_) break;
        run_ *= extents_[loops_ - 1];
    }
}

// Calls use(run) in the file's order until it returns false.
template <class Use>
void Plain::each_run(const Use& use) const {
    Shape at(loops_, 0);
    std::byte* run = first_;
    for (std::size_t d = 1; d > 0;) {
        if (!use(run)) return;
        for (d = loops_; d > 0; --d) {
            run += strides_[d - 1];
            if (++at[d - 1] < extents_[d - 1]) break;
            run -= strides_[d - 1] * extents_[d - 1];
            at[d - 1] = 0;
        }
    }
}

// Calls use(list of runs, offset) with lists that fit a system call.
template <class Use>
void Plain::each_list(std::int64_t offset, const Use& use) const {
    std::vector<iovec> runs;
    const auto flush = [&] {
        const auto bytes = static_cast<std::int64_t>(runs.size()) * run_;
        if (!runs.empty()) use(std::exchange(runs, {}), offset);
        offset += bytes;
    };
    each_run([&](std::byte* run) {
        runs.push_back({run, static_cast<std::size_t>(run_)});
        if (runs.size() == most_runs) flush();
        return true;
    });
    flush();
}

bool Plain::all_equal(const Bytes& value) const {
    const auto run_bytes = static_cast<std::size_t>(run_);
    bool equal = true;
    each_run([&](const std::byte* run) {
        // Each element equals the one before it.
        equal = std::memcmp(run, value.data(), value.size()) == 0 &&
                std::memcmp(run, run + value.size(), run_bytes - value.size()) == 0;
        return equal;
    });
    return equal;
}

// Calls use(buffer, copy's arguments, offset) for parts that fit a small buffer: as many indices of
// one dimension as fit, one index of those before it, all of those after it.
template <class Use>
void Plain::each_piece(std::int64_t offset, const Use& use) const {
    thread_local std::vector<std::byte> buffer;
    std::size_t d = loops_;
    std::int64_t below = run_;  // bytes of an index of dimension d - 1
    while (d > 1 && below * extents_[d - 1] <= piece_bytes) below *= extents_[--d];
    const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / below);
    buffer.resize(static_cast<std::size_t>(std::min(most, extents_[d - 1]) * below));
    const IndexBox before = whole_of(Shape(extents_.data(), extents_.data() + d - 1));
    const std::int64_t count = product_of(before.stop);
    for (std::int64_t n = 0; n < count; ++n) {
        std::byte* from = first_;
        const Shape at = index_in(before, n);
        for (std::size_t k = 0; k + 1 < d; ++k) from += at[k] * strides_[k];
        for (std::int64_t first = 0; first < extents_[d - 1]; first += most) {
            Shape extents(extents_.data() + d - 1, extents_.data() + extents_.size());
            const Shape strides(strides_.data() + d - 1, strides_.data() + strides_.size());
            extents[0] = std::min(most, extents[0] - first);
            const std::span<std::byte> part(buffer.data(),
                                            static_cast<std::size_t>(extents[0] * below));
            use(part, extents, strides, from + first * strides[0], offset);
            offset += extents[0] * below;
        }
    }
}

void Plain::read(const File& file, std::int64_t offset) const {
    if (loops_ == 0 || run_ >= long_run)
        return each_list(offset, [&](std::vector<iovec> runs, std::int64_t at) {
            file.read(at, std::move(runs));
        });
    each_piece(offset, [&](std::span<std::byte> buffer, const Shape& extents, const Shape& strides,
                           std::byte* memory, std::int64_t at) {
        file.read(at, buffer);
        kernel::Copy(extents, itemsize_, kernel::dense_strides(extents, itemsize_), strides)
            .run(buffer.data(), memory);
    });
}

void Plain::write(const File& file, std::int64_t offset) const {
    if (loops_ == 0 || run_ >= long_run)
        return each_list(offset, [&](std::vector<iovec> runs, std::int64_t at) {
            file.write(at, std::move(runs));
        });
    each_piece(offset, [&](std::span<std::byte> buffer, const Shape& extents, const Shape& strides,
                           const std::byte* memory, std::int64_t at) {
        kernel::Copy(extents, itemsize_, strides, kernel::dense_strides(extents, itemsize_))
            .run(memory, buffer.data());
        file.write(at, buffer);
    });
}

}  // namespace hocket::zarr
