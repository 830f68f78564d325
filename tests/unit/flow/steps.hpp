// SPDX-License-Identifier: BSD-3-Clause
// What several files of tests make their flows with.
#pragma once

#include "hocket/flow.hpp"

namespace hocket::tests {

/// A flow without a thread for communication.
inline FlowOptions with(int workers, int threads = 1) {
    FlowOptions options;
    options.workers = workers;
    options.threads = threads;
    options.agent = Agent::between_steps;
    return options;
}

inline Region key(const char* name) {
    return Region::key(name);
}

}  // namespace hocket::tests
