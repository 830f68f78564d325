// SPDX-License-Identifier: BSD-3-Clause
// How jobs that met by a port meet again: the one accepts the other at the same port.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "port/meeting.hpp"
#include "port/state.hpp"

namespace hocket::port {

/// As Tasks::State::meet_again.
using MeetAgain = std::function<JobTasks(const std::string& why, const Deadline& deadline)>;

/// The acceptor's part. `task`: the other job's. `seconds` for the other job to come back; 0: the
/// default.
MeetAgain accept_again(std::shared_ptr<State> port, std::string task, double seconds);
/// The connector's part.
MeetAgain connect_again(const Comm& comm, std::string name, ConnectOptions options);

}  // namespace hocket::port
