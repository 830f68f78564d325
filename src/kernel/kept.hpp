// SPDX-License-Identifier: BSD-3-Clause
// The last few results of computations that calls in a row repeat.
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
    /// Nothing if it is none of the last ones.
    std::shared_ptr<const Value> find(const Key& key) {
        const std::lock_guard lock(mutex_);
        for (const auto& [kept, value] : values_)
            if (value && kept == key) return value;
        return nullptr;
    }
    void keep(Key key, std::shared_ptr<const Value> value) {
        const std::lock_guard lock(mutex_);
        values_[next_++ % values_.size()] = {std::move(key), std::move(value)};
    }

  private:
    static constexpr std::size_t most = 8;
    std::mutex mutex_;
    std::array<std::pair<Key, std::shared_ptr<const Value>>, most> values_{};
    std::size_t next_ = 0;
};

}  // namespace hocket::kernel
