// SPDX-License-Identifier: BSD-3-Clause
// Waits for a process of a team, unless it or another necessary process has left.
#pragma once

#include <optional>
#include <utility>

#include "base/backoff.hpp"
#include "base/platform.hpp"
#include "comm/awaited_peers.hpp"
#include "team/round.hpp"

namespace hocket::team {

/// Polls for a short time. If every process has its own core: without pause, then with pauses, for
/// some tens of microseconds in all. If processes share cores, others must run.
template <class Come>
bool soon(Come come, bool crowded) {
    constexpr int looks = 200, pauses = 1000, looks_if_crowded = 20, yields = 300;
    const int close = crowded ? looks_if_crowded : looks;
    for (int i = 0; i < close; ++i)
        if (come()) return true;
    const int later = crowded ? yields : pauses;
    for (int i = 0; i < later; ++i) {
        bool prompt = true;
        if (crowded) {
            prompt = base::yield_or_sleep();
        } else {
            platform::pause();
        }
        if (come()) return true;
        // Polls are milliseconds apart now, but only the one wait checks deadlines.
        if (!prompt) return false;
    }
    return false;
}

/// Holds once `come` does. @throws Error once that process has left, or another one that this round
/// needs. In a round by leaders it waits first, because the effects of the departed process's last
/// payloads may still arrive, and then aborts the team.
template <class Come>
class PeerWait final : public comm::Condition {
  public:
    PeerWait(Round& round, std::size_t member, Come come)
        : round_(round), process_(round.group->process(member)), come_(std::move(come)) {}

    bool holds() override {
        if (come_()) return true;
        // A wait that collects its awaited peers is about to end.
        auto* const awaited = comm::AwaitedPeers::collecting();
        if (++polls_ % between_looks != 0 && awaited == nullptr) return false;
        if (awaited != nullptr) awaited->add_names(round_.root->name_of(process_));
        const bool passes = round_.source.has_value();
        if (round_.root->out_of_order(process_, passes) && !come_())
            round_.root->abort_team(
                {"MismatchError", text_of(round_.header, *round_.group) +
                                      (passes ? " without" : " with") + " a barrier: process " +
                                      std::to_string(process_) + " of the team makes a call " +
                                      (passes ? "with" : "without") +
                                      " one; make the same calls everywhere, in the same order"});
        const auto departure = round_.root->absent(*round_.group, process_, round_.direct());
        if (!departure) return false;
        // Without a barrier, other processes may have made their call, and left since.
        if (passes && departure->process != process_ && !departure->broke) return false;
        if (come_()) return true;  // it published before it left
        const double now = platform::seconds();
        if (!seen_) seen_ = now;
        // The departed process may have left in a later round, of which this process is not a
        // member.
        if (!round_.direct() && departure->process != process_ && now - *seen_ < grace)
            return false;
        if (departure->broke) round_.root->abort_team(departure->broke);
        const std::string what = text_of(round_.header, *round_.group) + " cannot end: process " +
                                 std::to_string(departure->process) + " of the team " +
                                 departure->words;
        if (round_.direct()) throw Error(what + "; use a team of those that stay (enqueue)");
        // Others wait for payloads that this process does not pass on now.
        round_.root->abort_team({"Error", what});
    }

  private:
    static constexpr int between_looks = 64;
    // Seconds: many times the delay of a process on a busy machine.
    static constexpr double grace = 2.0;
    Round& round_;
    int process_;
    Come come_;
    int polls_ = 0;
    std::optional<double> seen_;
};

}  // namespace hocket::team
