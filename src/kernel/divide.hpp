// SPDX-License-Identifier: BSD-3-Clause
// Division by a constant: one multiplication if the operands allow it.
#pragma once

#include <cstdint>

#include "base/checked.hpp"

namespace hocket::kernel {

/// Divides numbers in [0, limit) by `divisor` > 0.
///
/// With m = floor(2^64 / d) + 1 the product n m / 2^64 exceeds n / d by less than n / 2^64, which
/// does not reach the next integer as long as n d < 2^64 (Granlund and Montgomery, "Division by
/// Invariant Integers using Multiplication", 1994, section 4). Larger operands are divided.
class Divider {
  public:
    Divider() = default;
    Divider(std::int64_t divisor, std::int64_t limit) : divisor_(divisor) {
        const bool fits = divisor > 1 && static_cast<base::wide>(limit) * divisor <= INT64_MAX;
        if (fits) magic_ = UINT64_MAX / static_cast<std::uint64_t>(divisor) + 1;
    }

    std::int64_t quotient(std::int64_t number) const {
        if (magic_ == 0) return divisor_ == 1 ? number : number / divisor_;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(
            static_cast<unsigned_wide>(magic_) * static_cast<std::uint64_t>(number) >> 64));
    }
    std::int64_t divisor() const { return divisor_; }

  private:
    __extension__ using unsigned_wide = unsigned __int128;
    std::int64_t divisor_ = 1;
    std::uint64_t magic_ = 0;
};

}  // namespace hocket::kernel
