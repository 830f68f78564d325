// SPDX-License-Identifier: BSD-3-Clause
// What a thread that waits, or works for long, owes to the world outside.
#pragma once

namespace hocket::comm {

/// Seconds between two looks.
inline constexpr double between_checks = 20e-3;

/// Heeds Ctrl-C, and SIGUSR1, which prints the pending waits; writes what was traced. @throws what
/// the interrupt check throws.
void heed_outside();

/// The same some times a second, of calls that may come every fraction of a microsecond.
class Outside {
  public:
    Outside();
    /// @throws as heed_outside
    void heed();

  private:
    double next_;
};

}  // namespace hocket::comm
