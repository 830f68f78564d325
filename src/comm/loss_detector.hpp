// SPDX-License-Identifier: BSD-3-Clause
// Detects awaited processes that have ended, or left.
#pragma once

#include <optional>
#include <string>

#include "hocket/operation.hpp"

namespace hocket::comm {

/// For one wait, or for one thread that polls again and again without waiting.
class LossDetector {
  public:
    explicit LossDetector(double now);

    /// Call it often; it checks the others a few times a second. @throws PeerLostError half a
    /// second after a process has ended, or after one has left that the operation needs.
    void check(double now, Operation& operation);

  private:
    void check_departures(double now, Operation& operation);

    std::string lost_, left_;
    double next_look_, give_up_ = 0, left_since_ = 0;
};

/// For a call that finds an operation incomplete and does not wait: a program may repeat it until a
/// process acts that does not exist any more.
void check_losses(Operation& operation);

/// Polls an operation whose deadline has passed a last time; nullopt: it is complete. Otherwise,
/// the processes for which it waits: " and waits for rank 1, rank 2"; "" if none is known.
/// @throws the operation's error.
std::optional<std::string> awaited_by(Operation& operation);

}  // namespace hocket::comm
