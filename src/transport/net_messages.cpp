// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net_messages.hpp"

#include <limits>
#include <utility>

namespace hocket::transport {
namespace {

// Sends are at most so many turns ahead of the receives. So in an all-to-all few messages of a
// process share links and queues, and receives are posted before their messages arrive.
constexpr std::int64_t send_window = 16;

}  // namespace

NetMessages::NetMessages(const Schedule& schedule, std::vector<std::size_t> sends,
                         std::vector<std::size_t> receives, const Route& route, std::int64_t most)
    : out_(true, schedule.sends, std::move(sends), route, most),
      in_(false, schedule.receives, std::move(receives), route, most) {}

void NetMessages::connect() {
    out_.prepare();
    in_.prepare();
}

void NetMessages::rebind(const Schedule& schedule) {
    out_.rebind(schedule.sends);
    in_.rebind(schedule.receives);
}

void NetMessages::begin(ScheduleRun& run) {
    run_ = &run;
    // Sends only read their array.
    const bool elements = run.scratch == nullptr;
    out_.begin(const_cast<std::byte*>(run.sent_from()), run.withholds(), elements);
    in_.begin(run.received_into(), run.withholds(), elements);
    in_.open(std::numeric_limits<std::size_t>::max());
    while (in_.start_next()) {
    }
}

// Never delays the message of the lowest turn that has not arrived, because its sender has received
// all messages of lower turns.
bool NetMessages::window_full() const {
    const std::int64_t next = out_.next_turn();
    return next >= send_window && in_.first_turn() <= next - send_window;
}

std::optional<std::int64_t> NetMessages::start_next() {
    if (window_full()) return std::nullopt;
    return out_.start_next();
}

bool NetMessages::poll() {
    bool any = in_.poll(run_->scratch != nullptr ? &run_->received : nullptr, &run_->refused);
    while (in_.start_next()) any = true;
    out_.poll(nullptr, nullptr);
    return any;
}

}  // namespace hocket::transport
