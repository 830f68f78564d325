// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a process of a team, as long as it makes sense.
#pragma once

#include <optional>
#include <utility>

#include "base/platform.hpp"
#include "comm/awaited_peers.hpp"
#include "team/round.hpp"

namespace hocket::team {

/// Holds once `come` does. @throws Error once that process has left, or another that this round
/// needs: by leaders, when what its last words may have set going has had its time.
/// By leaders the team is broken then.
template <class Come>
class PeerWait final : public comm::Condition {
  public:
    PeerWait(Round& round, std::size_t member, Come come)
        : round_(round), process_(round.group->process(member)), come_(std::move(come)) {}

    bool holds() override {
        if (come_()) return true;
        // A wait that asks whom it needs is about to give them up.
        if (++polls_ % between_looks != 0 && comm::AwaitedPeers::collecting() == nullptr)
            return false;
        const auto departure = round_.root->absent(*round_.group, process_, round_.direct());
        if (!departure) return false;
        if (come_()) return true;  // it was said before it left
        const double now = platform::seconds();
        if (!seen_) seen_ = now;
        // By leaders, another may have been a round further on when it left, of which this one is
        // no part.
        if (!round_.direct() && departure->process != process_ && now - *seen_ < grace)
            return false;
        if (departure->broke) round_.root->abort_team(departure->broke);
        const std::string what = round_.text() + " cannot end: process " +
                                 std::to_string(departure->process) + " of the team " +
                                 departure->words;
        if (round_.direct()) throw Error(what + "; use a team of those that stay (enqueue)");
        // Others wait for what this process does not pass on now.
        round_.root->abort_team({"Error", what});
    }

  private:
    static constexpr int between_looks = 64;
    // Seconds, many times what a busy machine delays a process by.
    static constexpr double grace = 2.0;
    Round& round_;
    int process_;
    Come come_;
    int polls_ = 0;
    std::optional<double> seen_;
};

}  // namespace hocket::team
