// SPDX-License-Identifier: BSD-3-Clause
// Runs the messages and local copies of one process.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm/requests.hpp"
#include "transfer/refusals.hpp"
#include "transfer/schedule.hpp"
#include "transfer/stopwatch.hpp"
#include "transport/net_messages.hpp"
#include "transport/node_messages.hpp"

namespace hocket::transfer {

/// Runs a schedule, once or repeatedly. All receives are open from the start. Sends start in the
/// order of rounds, each as soon as the receives that it depends on are unpacked.
///
/// Invariant: the unfinished message with the lowest round can always proceed, because
/// 1. all receives that it depends on have lower rounds, so its sender may send it;
/// 2. its sender sends, and its receiver receives, in the order of rounds, so it has buffers;
/// 3. unpacking needs no memory that a later send frees: the scratch memory holds all messages.
class Executor {
  public:
    /// `watch` must live as long as the executor.
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
    /// Progresses all messages; true once nothing is left to send or receive.
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
    bool forwards() const { return work_->scratch > 0; }
    bool all_short() const { return !forwards() && in_node_.all_short(); }
    bool send_what_is_ready();
    void received(std::size_t i);
    void load(std::size_t i);
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
    // Of strategies that forward:
    const std::byte* from_ = nullptr;
    std::byte* to_ = nullptr;
    bool refusing_ = false;
    std::shared_ptr<std::byte> scratch_;
    std::vector<std::int64_t> missing_;  // pieces of each receive
    std::size_t received_ = 0;           // receives before this one are unpacked
    std::size_t ready_ = 0;              // sends before this one have started
    comm::Requests in_, out_;            // last, so that they end before their buffers
};

/// A transfer run once.
comm::Protocol<> run(std::shared_ptr<const Schedule> work, const void* source_data,
                     void* destination_data, Route route, Stopwatch& watch);

}  // namespace hocket::transfer
