// SPDX-License-Identifier: BSD-3-Clause
#include "base/patience.hpp"

#include "base/bell.hpp"

namespace hocket::base {
namespace {

constexpr double nap = 50e-6;  // seconds

}  // namespace

Patience::Stage Patience::look() {
    if (looks_ < spins_) {
        ++looks_;
        return Stage::spin;
    }
    now_ = port::seconds();
    if (looks_ == spins_) {
        ++looks_;
        began_ = now_;
        sleep_at_ = now_ + yielding_;
    }
    return now_ < sleep_at_ ? Stage::yield : Stage::sleep;
}

void Patience::rest(Stage stage) const {
    if constexpr (port::simulated) {
        bell::doze(now_ - began_);
        return;
    }
    switch (stage) {
        case Stage::spin:
            port::pause();
            break;
        case Stage::yield:
            port::yield();
            break;
        case Stage::sleep:
            port::sleep(nap);
            break;
    }
}

}  // namespace hocket::base
