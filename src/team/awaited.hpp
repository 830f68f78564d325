// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a process of a team, as long as it makes sense.
#pragma once

#include <optional>
#include <utility>

#include "base/port.hpp"
#include "comm/needs.hpp"
#include "team/round.hpp"

namespace hocket::team {

/// Holds once `come` does. @throws Error once that process has left, or another that this round
/// needs: by leaders, when what its last words may have set going has had its time.
/// By leaders the team is broken then.
template <class Come>
class Awaited final : public comm::Condition {
  public:
    Awaited(Round& round, std::size_t place, Come come)
        : round_(round), process_(round.group->process(place)), come_(std::move(come)) {}

    bool holds() override {
        if (come_()) return true;
        // A wait that asks whom it needs is about to give them up.
        if (++polls_ % between_looks != 0 && comm::Needs::asked() == nullptr) return false;
        const auto absence = round_.root->absent(*round_.group, process_, round_.direct());
        if (!absence) return false;
        if (come_()) return true;  // it was said before it left
        const double now = port::seconds();
        if (!seen_) seen_ = now;
        // By leaders, another may have been a round further on when it left, of which this one is
        // no part.
        if (!round_.direct() && absence->process != process_ && now - *seen_ < patience)
            return false;
        if (absence->broke) round_.root->break_up(absence->broke);
        const std::string what = round_.text() + " cannot end: process " +
                                 std::to_string(absence->process) + " of the team " +
                                 absence->words;
        if (round_.direct()) throw Error(what + "; use a team of those that stay (enqueue)");
        // Others wait for what this process does not pass on now.
        round_.root->break_up({"Error", what});
    }

  private:
    static constexpr int between_looks = 64;
    // Seconds, many times what a busy machine delays a process by.
    static constexpr double patience = 2.0;
    Round& round_;
    int process_;
    Come come_;
    int polls_ = 0;
    std::optional<double> seen_;
};

}  // namespace hocket::team
