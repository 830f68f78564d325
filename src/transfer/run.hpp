// SPDX-License-Identifier: BSD-3-Clause
// Doing the work: messages and copies of one process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/requests.hpp"
#include "transfer/contest.hpp"
#include "transfer/far.hpp"
#include "transfer/offers.hpp"
#include "transfer/relay.hpp"
#include "transfer/stopwatch.hpp"
#include "transfer/weaving.hpp"
#include "transfer/work.hpp"

namespace hocket::transfer {

/// One process's part of a transfer, run once or again and again.
class Runner {
  public:
    /// `watch` must live as long as the runner.
    Runner(std::shared_ptr<const Work> work, Route route, Stopwatch& watch);
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Gives every message between near processes a lane that stays, so that `start` costs flags
    /// and no message. Both sides of the transfer, or none. @throws Error
    comm::Protocol<> connect();

    /// The same plan for an array of other strides; only when nothing is under way.
    void rebind(std::shared_ptr<const Work> work);

    /// The first message to another node waits for its turn.
    void take_turns(std::unique_ptr<Contest> contest) { contest_ = std::move(contest); }

    /// Starts all that can be started without waiting; what stays on the process is copied part by
    /// part while messages fly, by `poll`. The
    /// arrays must live until it is done, and may be nullptr where the process is not on that side.
    void start(const void* source, void* destination);
    /// Serves what has come; true once nothing is left to come or to go.
    bool poll();

  private:
    bool near(int rank) const { return route_.link->near(rank); }
    // As mail: too short for a lane that is used once.
    bool mailed(const Message& message, int rank) const {
        return !connected_ && message.bytes() <= mailed_up_to && near(rank);
    }
    int sender(std::size_t i) const;
    int receiver(std::size_t i) const;
    // Of a message within the node: who sends it tells the receiver of a lane, once.
    void offer(std::size_t i);
    void begin_near_sends();
    bool accept_offers();
    bool all_gone(std::vector<std::pair<int, std::uint64_t>>& mail);
    void begin_receive(std::size_t i);
    // Whoever waits for this process within the node hears of an error here, and gives up, too.
    template <class Function>
    auto together(const Function& function);
    void break_off(const std::string& why);
    void begin();
    bool go_on();
    bool poll_far();
    bool send_one();
    bool copy_local();
    bool weave();
    bool poll_near();
    bool poll_brief();

    std::shared_ptr<const Work> work_;
    Route route_;
    Stopwatch& watch_;
    const void* from_ = nullptr;
    void* to_ = nullptr;
    std::uint64_t local_done_ = 0;  // parts
    bool brief_ = false;  // short messages over lanes and nothing else: not timed unless waited for
    bool timed_ = false;
    std::vector<std::pair<int, std::uint64_t>> offered_;  // lanes, to ranks, by mail on its way
    std::vector<std::pair<int, std::uint64_t>> mailed_;   // likewise, messages
    std::vector<std::size_t> expecting_;  // near messages whose senders have said nothing yet
    std::vector<std::size_t> unsent_;     // near messages that there may be no room for yet
    std::size_t next_unsent_ = 0;
    bool connected_ = false, started_ = false;
    bool under_way_ = false;  // and nobody has been told that it is given up
    std::vector<std::unique_ptr<NearSend>> near_sends_;
    std::vector<std::unique_ptr<NearReceive>> near_receives_;
    std::vector<std::size_t> sending_, receiving_;  // near messages under way
    std::optional<Weaving> weaving_;                // once all that is received is under way
    bool wove_ = false;
    Allowance rings_;
    Far far_sends_, far_receives_;
    std::unique_ptr<Contest> contest_;  // of the first of these sends; none: nobody else's
    std::optional<Relay> relay_;        // instead of all these
    comm::Requests in_, out_;           // last, so that they end before their buffers
};

/// A transfer run once.
comm::Protocol<> run(std::shared_ptr<const Work> work, const void* source_data,
                     void* destination_data, Route route, Stopwatch& watch,
                     std::unique_ptr<Contest> contest = nullptr);

}  // namespace hocket::transfer
