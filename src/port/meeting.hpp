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

struct State;

/// How a process of the accepting job is reached.
struct ProcessAddress {
    std::string host;     // name of its host
    std::string socket;   // path, there
    std::string address;  // host:port of its node; "": none; `of_port`: that of the port itself
    std::int64_t node = 0;
    static constexpr const char* of_port = "*";
};

/// The message of the accepting job's process 0 to the connecting job.
struct Meeting {
    net::Instance session{};
    bool local = false;        // the two processes 0 are on one host
    bool other_order = false;  // the machines of the jobs store numbers in different byte orders
    bool by_socket = false;    // all meet by Unix sockets; not sent: it follows from the others
    std::string acceptor, connector;
    std::int64_t connectors = 1;
    double reconnect = 0;  // seconds in which the connecting job comes back after a loss; 0: not
    std::vector<ProcessAddress> addresses;  // of the accepting job's processes
};
std::string packed_meeting(const Meeting& meeting);
/// @throws Error for a text that is none.
Meeting parse_meeting(const std::string& text);

class Opening;

/// The tasks of both jobs. Collective over both. `tag` and `text`: of the call, whose processes
/// agree on the end. @throws on every process, if one fails.
using JobTasks = std::shared_ptr<Tasks::State>;
struct OwnSide {
    bool acceptor;  // this is the accepting job
    int tag;
    std::string text;
};
comm::Protocol<> become_tasks(Comm on, Meeting meeting, std::shared_ptr<Opening> opening,
                              OwnSide side, std::shared_ptr<JobTasks> out);

/// Collective over the job. `only`: the one task that is accepted; "": any.
JobTasks accept_job(const std::shared_ptr<State>& state, const Resume& resume,
                    const std::string& only, const Deadline& deadline);
/// `again`: the port was there before.
JobTasks connect_job(const std::string& name, const Comm& comm, const ConnectOptions& options,
                     bool again);

/// "resume={'frames': 3}, ", for messages. @throws Error for a negative number.
std::string resume_text(const Resume& resume);

}  // namespace hocket::port
