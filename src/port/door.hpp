// SPDX-License-Identifier: BSD-3-Clause
// Where clients of a port arrive. Whoever is not let in within a few seconds is sent away, and
// there is room for so many of them only.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "net/connection.hpp"
#include "net/directory.hpp"
#include "net/hello.hpp"

namespace hocket::port {

/// A client that has shown that it may come in.
struct Client {
    std::unique_ptr<net::Connection> connection;
    net::Hello hello;
    net::Right right;
};

struct DoorOptions {
    std::string name, address, key;
    bool secure = true;
    std::int64_t processes = 1;
};

class Door {
  public:
    /// @throws Error where the name is taken, or nothing can be listened at.
    explicit Door(const DoorOptions& options);
    ~Door();
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;

    /// Lets in who waits there; the next client that has said hello, if any.
    std::unique_ptr<Client> next();
    /// Answers a client that comes in. `rest`: what its role is told.
    void welcome(Client& client, const std::string& rest) const;
    /// Says why not, and ends the connection.
    static void refuse(net::Connection& connection, const std::string& why);

    const net::PortFile& file() const { return file_; }

  private:
    struct Arrival {
        std::unique_ptr<net::Connection> connection;
        net::Descriptor raw;  // until its first byte says what it speaks
        bool local = false;   // by the Unix socket, of our user
        double until = 0;
    };
    void accept_all();
    void begin(Arrival& arrival) const;
    std::unique_ptr<Client> advance(Arrival& arrival) const;

    DoorOptions options_;
    std::shared_ptr<const net::Key> key_;
    net::PortFile file_;
    net::Descriptor unix_, tcp_;
    net::Instance instance_;
    std::list<Arrival> arrivals_;
    bool made_key_ = false;
};

}  // namespace hocket::port
