// SPDX-License-Identifier: BSD-3-Clause
#include "base/patience.hpp"

#include "base/bell.hpp"

namespace hocket::base {
namespace {

constexpr double nap = 50e-6;  // seconds
// Of a yield to other programs that compute, and of a nap that no such program made longer.
constexpr double long_yield = 1e-3, prompt_nap = 300e-6;
constexpr int prompt_naps = 4;

}  // namespace

bool step_aside() {
    thread_local int naps_left = 0;
    if constexpr (port::simulated) {
        port::yield();
        return true;
    }
    const bool naps = naps_left > 0;
    const double began = port::seconds();
    if (naps) {
        port::sleep(nap);
    } else {
        port::yield();
    }
    const double took = port::seconds() - began;
    if (took > (naps ? prompt_nap : long_yield)) {
        naps_left = prompt_naps;
    } else if (naps) {
        --naps_left;
    }
    return naps_left == 0;
}

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
            step_aside();
            break;
        case Stage::sleep:
            port::sleep(nap);
            break;
    }
}

}  // namespace hocket::base
