// SPDX-License-Identifier: BSD-3-Clause
// How a client gets into a port.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/connection.hpp"
#include "net/directory.hpp"
#include "net/hello.hpp"

namespace hocket::net {

struct Dialling {
    std::string port;  // a name, or host:port
    std::string key;   // path; "": none
    Right wanted = Right::steer;
    bool secure = true;
    std::optional<double> timeout;  // seconds
    void (*interrupt)() = nullptr;
};

/// What the port answers.
struct Welcome {
    Right right = Right::read;
    bool big_endian = false;
    Instance instance{};
    std::string rest;  // what this role is told besides
};
Bytes bytes_of(const Welcome& welcome);

struct Dialled {
    std::unique_ptr<Connection> connection;
    Welcome welcome;
};

/// Connects and says hello; with a right below the one that is wanted, where the key has no other.
/// A name is waited for until the deadline. @throws Error where the port lets this client not in;
/// DeadlineError; PeerLostError.
Dialled dial(const Dialling& how, Hello hello);

/// Waits until something may have come or, if `writing`, gone; at most a twentieth of a second.
/// @throws what `interrupt` throws.
void idle(Connection& connection, bool writing, void (*interrupt)());

}  // namespace hocket::net
