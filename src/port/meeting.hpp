// SPDX-License-Identifier: BSD-3-Clause
// Two jobs become tasks of each other: the one that has a port, and the one that connects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/protocol.hpp"
#include "hocket/port.hpp"
#include "net/dial.hpp"
#include "port/listener.hpp"

namespace hocket::port {

/// How a process of the accepting job is reached.
struct Place {
    std::string host;     // name of its host
    std::string socket;   // path, there
    std::string address;  // host:port; "": none
};

/// The message of the accepting job's process 0 to the connecting job.
struct Meeting {
    net::Instance session{};
    bool local = false;  // the two processes 0 are on one host
    std::string acceptor, connector;
    std::int64_t connectors = 1;
    std::vector<Place> places;  // of the accepting job's processes
};
std::string packed_meeting(const Meeting& meeting);
/// @throws Error for a text that is none.
Meeting parse_meeting(const std::string& text);

/// Connections by the other job's process, once all are there.
using Lines = std::vector<std::unique_ptr<net::Connection>>;

/// The tasks of both jobs. Collective over both. `acceptor`: this is the accepting one.
comm::Protocol<> become_tasks(Comm on, Meeting meeting, Lines lines, bool acceptor,
                              std::shared_ptr<std::optional<Tasks>> out);

std::string host_name();

}  // namespace hocket::port
