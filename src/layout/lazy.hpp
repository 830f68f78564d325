// SPDX-License-Identifier: BSD-3-Clause
// Values that are computed at first use.
#pragma once

#include <atomic>
#include <memory>

namespace hocket::layout {

/// A value that any thread computes at its first use; a copy computes it again.
template <class T>
class Lazy {
  public:
    Lazy() = default;
    Lazy(const Lazy&) {}
    Lazy& operator=(const Lazy&) {
        delete value_.exchange(nullptr);
        return *this;
    }
    ~Lazy() { delete value_.load(); }
    template <class Make>
    const T& get(Make make) const {
        const T* value = value_.load(std::memory_order_acquire);
        if (value != nullptr) return *value;
        auto made = std::make_unique<const T>(make());
        if (value_.compare_exchange_strong(value, made.get())) value = made.release();
        return *value;
    }

  private:
    mutable std::atomic<const T*> value_{nullptr};
};

}  // namespace hocket::layout
