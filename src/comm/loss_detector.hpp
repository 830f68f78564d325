// SPDX-License-Identifier: BSD-3-Clause
// Who has ended, or left, of those that something is waited for.
#pragma once

#include <string>

#include "hocket/operation.hpp"

namespace hocket::comm {

/// For one wait, or for one thread that looks again and again without waiting.
class LossDetector {
  public:
    explicit LossDetector(double now);

    /// To be called often; looks at the others a few times a second. @throws PeerLostError half a
    /// second after one has ended, or after one has left that the operation needs.
    void check(double now, Operation& operation);

  private:
    void check_departures(double now, Operation& operation);

    std::string lost_, left_;
    double next_look_, give_up_ = 0, left_since_ = 0;
};

/// The same for a call that finds an operation not done and does not wait: a program may make it
/// again and again until somebody acts who is not there any more.
void check_losses(Operation& operation);

}  // namespace hocket::comm
