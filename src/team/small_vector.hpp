// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace hocket::team {

/// A fixed number of values, uninitialised; up to `inline_size` of them need no allocation.
template <class T, std::size_t inline_size>
class SmallVector {
  public:
    explicit SmallVector(std::size_t count) : count_(count) {
        if (count > inline_size) heap_.resize(count);
    }
    std::size_t size() const { return count_; }
    T* data() { return count_ > inline_size ? heap_.data() : inline_.data(); }
    const T* data() const { return count_ > inline_size ? heap_.data() : inline_.data(); }
    T* begin() { return data(); }
    T* end() { return data() + count_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + count_; }
    T& operator[](std::size_t index) { return data()[index]; }
    const T& operator[](std::size_t index) const { return data()[index]; }

  private:
    std::size_t count_;
    std::array<T, inline_size> inline_;
    std::vector<T> heap_;
};

}  // namespace hocket::team
