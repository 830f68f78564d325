// SPDX-License-Identifier: BSD-3-Clause
#include "base/backoff.hpp"

#include "base/wakeup.hpp"

namespace hocket::base {
namespace {

constexpr double sleep_time = 50e-6;  // seconds
// Limits for a yield beside other computing programs, and for a sleep that no program has delayed.
constexpr double slow_yield = 1e-3, prompt_sleep = 300e-6;
constexpr int prompt_sleeps = 4;

}  // namespace

bool yield_or_sleep() {
    thread_local int sleeps_left = 0;
    if constexpr (platform::simulated) {
        platform::yield();
        return true;
    }
    const bool sleeps = sleeps_left > 0;
    const double began = platform::seconds();
    if (sleeps) {
        platform::sleep(sleep_time);
    } else {
        platform::yield();
    }
    const double took = platform::seconds() - began;
    if (took > (sleeps ? prompt_sleep : slow_yield)) {
        sleeps_left = prompt_sleeps;
    } else if (sleeps) {
        --sleeps_left;
    }
    return sleeps_left == 0;
}

Backoff::Stage Backoff::next() {
    if (polls_ < spins_) {
        ++polls_;
        return Stage::spin;
    }
    now_ = platform::seconds();
    if (polls_ == spins_) {
        ++polls_;
        began_ = now_;
        sleep_at_ = now_ + yielding_;
    }
    return now_ < sleep_at_ ? Stage::yield : Stage::sleep;
}

void Backoff::pause(Stage stage) const {
    if constexpr (platform::simulated) {
        wakeup::sleep(now_ - began_);
        return;
    }
    switch (stage) {
        case Stage::spin:
            platform::pause();
            break;
        case Stage::yield:
            yield_or_sleep();
            break;
        case Stage::sleep:
            platform::sleep(sleep_time);
            break;
    }
}

}  // namespace hocket::base
