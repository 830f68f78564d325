// SPDX-License-Identifier: BSD-3-Clause
// Buffers for chunks, kept for reuse, because first touches of pages cost more than the work in
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "zarr/dtype.hpp"

namespace hocket::zarr {

class Buffers {
  public:
    static Buffers& instance() {
        static auto* const all = new Buffers;  // threads of the pool may outlive statics
        return *all;
    }
    /// A buffer of `size` bytes with undefined contents.
    Bytes take(std::size_t size) {
        Bytes found;
        {
            const std::lock_guard lock(mutex_);
            const auto fits = std::find_if(spare_.rbegin(), spare_.rend(), [&](const Bytes& each) {
                return each.capacity() >= size;
            });
            if (fits != spare_.rend()) {
                kept_ -= fits->capacity();
                std::swap(*fits, spare_.back());
                found = std::move(spare_.back());
                spare_.pop_back();
            }
        }
        found.resize(size);
        return found;
    }
    void give(Bytes buffer) {
        const std::lock_guard lock(mutex_);
        if (kept_ + buffer.capacity() > most_kept) return;
        kept_ += buffer.capacity();
        spare_.push_back(std::move(buffer));
    }

  private:
    static constexpr std::size_t most_kept = std::size_t{64} << 20;
    std::mutex mutex_;
    std::vector<Bytes> spare_;
    std::size_t kept_ = 0;
};

}  // namespace hocket::zarr
