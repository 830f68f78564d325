// SPDX-License-Identifier: BSD-3-Clause
// A walk over dimensions of two strided arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::exact {

/// Dimensions as a counter, the last one fastest; offsets in bytes. `b` may have no strides.
class Odometer {
  public:
    Odometer(std::span<const std::int64_t> shape, std::span<const std::int64_t> a,
             std::span<const std::int64_t> b)
        : shape_(shape), a_(a), b_(b), at_(shape.size(), 0) {}
    std::int64_t a() const { return a_offset_; }
    std::int64_t b() const { return b_offset_; }
    bool next() {
        for (std::size_t d = shape_.size(); d-- > 0;) {
            a_offset_ += a_[d];
            b_offset_ += b_.empty() ? 0 : b_[d];
            if (++at_[d] < shape_[d]) return true;
            a_offset_ -= shape_[d] * a_[d];
            b_offset_ -= b_.empty() ? 0 : shape_[d] * b_[d];
            at_[d] = 0;
        }
        return false;
    }

  private:
    std::span<const std::int64_t> shape_, a_, b_;
    std::vector<std::int64_t> at_;
    std::int64_t a_offset_ = 0, b_offset_ = 0;
};

}  // namespace hocket::exact
