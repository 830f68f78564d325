// SPDX-License-Identifier: BSD-3-Clause
// How a client gets into a port.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/connection.hpp"
#include "net/directory.hpp"
#include "net/forwarding.hpp"
#include "net/hello.hpp"

namespace hocket::net {

struct DialOptions {
    std::string port;  // a name, host:port, or the path of a Unix socket
    std::string key;   // path; "": none
    Right wanted = Right::steer;
    bool secure = true;
    std::optional<double> timeout;    // seconds
    std::optional<Route> route = {};  // by TCP: the process that the connection is for
    bool again = false;               // the port was there before: whoever does not answer may yet
};

/// The port's answer.
struct Welcome {
    Right right = Right::read;
    bool big_endian = false;
    Instance instance{};
    std::string rest;  // further text for this role
};
Bytes bytes_of(const Welcome& welcome);

/// A client that connects and says hello; with another right than the one that is wanted, where the
/// key has only that. A port that is not there yet is waited for until the deadline.
class Dial {
  public:
    Dial(DialOptions how, Hello hello);

    /// True once the port has let it in. @throws Error where the port lets this client not in;
    /// DeadlineError; PeerLostError.
    bool poll();
    /// The system of the other end has accepted the connection.
    bool reached() const { return connection_ != nullptr; }
    /// Of one that is in. By a Unix socket: both are on one host.
    bool local() const { return local_; }
    const Welcome& welcome() const { return welcome_; }
    std::unique_ptr<Connection> take() { return std::move(connection_); }
    /// Waits a little for what `poll` needs.
    void idle();

  private:
    bool reach();
    void reach_name();
    void reach_host(const Address& address);
    [[noreturn]] void fail_unreached() const;
    void connect(Descriptor descriptor);
    bool greet();
    double left() const;

    DialOptions how_;
    Hello hello_;
    double until_, next_try_ = 0;
    std::shared_ptr<const Key> key_;
    std::unique_ptr<Connection> connection_;
    std::string unreachable_;  // why the last try to reach the host failed
    bool local_ = false, said_ = false, in_ = false;
    Welcome welcome_;
};

/// Waits until something may have come or, if `writing`, gone; at most a twentieth of a second.
void idle(Connection& connection, bool writing);

}  // namespace hocket::net
