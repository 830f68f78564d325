// SPDX-License-Identifier: BSD-3-Clause
// Runs the messages and local copies of one process, over the transports that its peers need.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transfer/refusals.hpp"
#include "transfer/schedule.hpp"
#include "transfer/stopwatch.hpp"
#include "transport/transport.hpp"

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
    Executor(std::shared_ptr<const Schedule> work, transport::Route route, Stopwatch& watch);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Gives every message within the node a persistent channel, so that `start` only sets flags
    /// and sends no message. Both sides of the transfer call it, or none. @throws Error
    comm::Protocol<> connect();

    /// Sets the schedule for arrays with other strides; only while nothing is under way.
    void rebind(std::shared_ptr<const Schedule> work);

    /// Starts all messages that can start; `poll` copies local elements chunk by chunk while
    /// messages travel. The arrays must live until all is complete; nullptr for a side without this
    /// process.
    void start(const void* source, void* destination);
    /// Replaces a start that this process cannot make: its receivers get `why` in place of
    /// elements, and it drops received elements. Only after `connect`.
    void refuse(const comm::Fault& why);
    /// After completion: the fault of the lowest process that refused to send to this one, if any
    /// did.
    const std::optional<comm::Fault>& refused() const { return refusals_.observed(); }
    /// Progresses all messages; true once all sends and receives are complete.
    bool poll();

  private:
    // The other ends of messages that would wait get this process's error, and give up, too.
    template <class Function>
    auto together(const Function& function);
    void abort_run(const std::string& why);
    void begin(const void* source, void* destination, bool refusing);
    bool receive_refusals();
    bool go_on();
    bool poll_transports();
    bool poll_short();
    bool forwards() const { return work_->scratch > 0; }
    bool send_what_is_ready();
    void received(std::size_t i);
    void load(std::size_t i);
    bool start_next();
    bool copy_local();
    void draw(Side side, double began);
    void log_messages() const;

    std::shared_ptr<const Schedule> work_;
    transport::Route route_;
    Stopwatch& watch_;
    bool short_ = false;      // every transport serves it by flags and payloads only
    bool timed_ = false;      // a short run is timed only while the process waits
    bool under_way_ = false;  // and other processes do not know yet that it is aborted
    bool delivered_ = false;  // of a short run
    std::int64_t runs_ = 0;
    bool to_draw_ = false;  // in the trace, the arrival of the elements
    transport::ScheduleRun run_;
    Refusals refusals_;
    // For strategies with relays:
    std::shared_ptr<std::byte> scratch_;
    std::vector<bool> unpacked_;  // receives
    std::size_t received_ = 0;    // receives before this one are unpacked
    std::size_t ready_ = 0;       // sends before this one have been given to the transports
    std::vector<std::unique_ptr<transport::Transport>> transports_;  // last: it uses the others
};

/// Runs a schedule once.
comm::Protocol<> run(std::shared_ptr<const Schedule> work, const void* source_data,
                     void* destination_data, transport::Route route, Stopwatch& watch);

}  // namespace hocket::transfer
