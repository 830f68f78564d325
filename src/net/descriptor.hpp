// SPDX-License-Identifier: BSD-3-Clause
// Sockets that never block, owned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hocket/error.hpp"

namespace hocket::net {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_ = -1;
};

struct Address {
    std::string host;
    std::string service;  // a number
};
/// "host:port", "[::1]:port"; nothing if there is no colon. @throws Error for a colon without a
/// host or a number of a port.
std::optional<Address> address_of(const std::string& text);

/// Listening sockets. @throws Error
Descriptor listen_unix(const std::string& path);
Descriptor listen_tcp(const Address& address);
/// The number of the port that it listens on.
int port_of(const Descriptor& listener);

/// The next connection that waits there; none now.
Descriptor accept_from(const Descriptor& listener);
/// Whether the process at the other end of a Unix socket belongs to our user.
bool is_our_user(const Descriptor& connection);

/// Whether nobody listens at that Unix socket any more: its process has ended, or removed it.
bool is_abandoned(const std::string& path);

/// Connects within `seconds`, or throws. With 0 seconds, `dial_unix` returns nothing while the
/// listener's queue is full. @throws Error
Descriptor dial_unix(const std::string& path, double seconds);
/// Nobody listens there, or no host answers.
class Unreachable : public Error {
  public:
    using Error::Error;
};
/// @throws Unreachable; Error where the host is not known.
Descriptor dial_tcp(const Address& address, double seconds);

/// No delay of short messages, and an end within two seconds of silence where the other host, or
/// the line, is gone.
void prepare_tcp(const Descriptor& connection);
/// Whether the other host has not answered for 1.7 s, although the system has asked it.
bool is_unanswered(const Descriptor& connection);

/// Waits until it can be read (or, if `writing`, also written), at most so long.
void wait_for(const Descriptor& connection, bool writing, double seconds);

}  // namespace hocket::net
