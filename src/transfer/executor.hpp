// SPDX-License-Identifier: BSD-3-Clause
// Doing the work: messages and copies of one process.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm/requests.hpp"
#include "transfer/refusals.hpp"
#include "transfer/relay.hpp"
#include "transfer/schedule.hpp"
#include "transfer/stopwatch.hpp"
#include "transport/net_messages.hpp"
#include "transport/node_messages.hpp"

namespace hocket::transfer {

/// One process's part of a transfer, run once or again and again.
class Executor {
  public:
    /// `watch` must live as long as the runner.
    Executor(std::shared_ptr<const Schedule> work, Route route, Stopwatch& watch);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Gives every message between near processes a lane that stays, so that `start` costs flags
    /// and no message. Both sides of the transfer, or none. @throws Error
    comm::Protocol<> connect();

    /// The same plan for an array of other strides; only when nothing is under way.
    void rebind(std::shared_ptr<const Schedule> work);

    /// Starts all that can be started without waiting; what stays on the process is copied part by
    /// part while messages fly, by `poll`. The arrays must live until it is done, and may be
    /// nullptr where the process is not on that side.
    void start(const void* source, void* destination);
    /// Takes the place of a start that this process cannot make: those that receive from it learn
    /// why, instead of elements, and what comes is dropped. Only after `connect`.
    void refuse(const comm::Fault& why);
    /// Of what is done: why the lowest process that refused to send to this one did, if any did.
    const std::optional<comm::Fault>& refused() const { return refusals_.observed(); }
    /// Serves what has come; true once nothing is left to come or to go.
    bool poll();

  private:
    // Whoever waits for this process within the node hears of an error here, and gives up, too.
    template <class Function>
    auto together(const Function& function);
    void abort_use(const std::string& why);
    void begin(const void* source, void* destination, bool refusing);
    bool hear_refusals();
    bool go_on();
    bool poll_net();
    bool poll_short();
    bool all_short() const { return !relay_ && in_node_.all_short(); }
    bool window_full() const;
    bool send_one();
    void draw(Side side, double began);
    void tell() const;

    std::shared_ptr<const Schedule> work_;
    Route route_;
    Stopwatch& watch_;
    bool timed_ = false;      // what is brief is only once it is waited for
    bool under_way_ = false;  // and nobody has been told that it is given up
    std::int64_t runs_ = 0;
    bool to_draw_ = false;  // in the trace, that the elements have come
    transport::NodeMessages in_node_;
    transport::NetMessages net_sends_, net_receives_;
    Refusals refusals_;
    std::optional<Relay> relay_;  // instead of all these
    comm::Requests in_, out_;     // last, so that they end before their buffers
};

/// A transfer run once.
comm::Protocol<> run(std::shared_ptr<const Schedule> work, const void* source_data,
                     void* destination_data, Route route, Stopwatch& watch);

}  // namespace hocket::transfer
