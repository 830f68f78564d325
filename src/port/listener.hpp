// SPDX-License-Identifier: BSD-3-Clause
// Where clients arrive. Whoever is not let in within a few seconds is sent away, and there is room
// for so many of them only.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/connection.hpp"
#include "net/forwarding.hpp"
#include "net/hello.hpp"

namespace hocket::port {

/// A client that has shown that it may come in.
struct Client {
    std::unique_ptr<net::Connection> connection;
    net::Hello hello;
    net::Right right;
    bool local = false;  // by the Unix socket, of our user
};

class Listener {
  public:
    struct Options {
        std::string socket;                   // path of the Unix socket
        std::optional<net::Address> address;  // of the TCP port
        std::shared_ptr<const net::Key> key;
        bool secure = true;
    };
    /// @throws Error where nothing can be listened at.
    explicit Listener(Options options);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Accepts waiting connections; returns the next client that has said hello, if any.
    std::unique_ptr<Client> next();
    /// Hands connections that name this session to the processes at these Unix sockets; with none,
    /// no longer.
    void forward(const net::Instance& session, std::vector<std::string> sockets) {
        forwarded_.erase(session);
        if (!sockets.empty()) forwarded_.emplace(session, std::move(sockets));
    }
    /// Answers a client that is accepted. `rest`: further text for its role.
    void welcome(Client& client, const std::string& rest) const;
    /// Sends the reason, and ends the connection.
    static void refuse(net::Connection& connection, const std::string& why);
    /// The number of the TCP port.
    int number() const { return net::port_of(tcp_); }

  private:
    struct Arrival {
        std::unique_ptr<net::Connection> connection;
        net::Descriptor raw;  // until its first byte says what it speaks
        bool local = false;
        double until = 0;
    };
    void accept_all();
    bool redirect(Arrival& arrival) const;
    void begin(Arrival& arrival) const;
    std::unique_ptr<Client> advance(Arrival& arrival) const;

    Options options_;
    std::int64_t process_;  // whose socket it is, not a forked child's
    net::Descriptor unix_, tcp_;
    net::Instance instance_;
    bool big_endian_;
    std::map<net::Instance, std::vector<std::string>> forwarded_;  // by process; "": none
    std::list<Arrival> arrivals_;
};

}  // namespace hocket::port
