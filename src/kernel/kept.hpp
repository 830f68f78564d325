// SPDX-License-Identifier: BSD-3-Clause
// The last few results of computations that calls in a row repeat. No call waits for another: a
// fork during one leaves the child with a locked mutex.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace hocket::kernel {

template <class Key, class Value>
class Kept {
  public:
    /// Nothing if it is none of the last ones, or another thread is here.
    std::shared_ptr<const Value> find(const Key& key) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return nullptr;
        for (const auto& [kept, value] : values_)
            if (value && kept == key) return value;
        return nullptr;
    }
    /// Does nothing if another thread is here.
    void keep(Key key, std::shared_ptr<const Value> value) {
        std::pair entry(std::move(key), std::move(value));  // the oldest is freed unlocked
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (lock) std::swap(values_[next_++ % values_.size()], entry);
    }

  private:
    static constexpr std::size_t most = 8;
    std::mutex mutex_;
    std::array<std::pair<Key, std::shared_ptr<const Value>>, most> values_{};
    std::size_t next_ = 0;
};

}  // namespace hocket::kernel
