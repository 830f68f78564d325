// SPDX-License-Identifier: BSD-3-Clause
// Looking on: a program that runs elsewhere, seen and steered from outside. Needs no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hocket/layout.hpp"

namespace hocket {

namespace net {
class Session;  // src/net/observer.cpp
}

/// A parameter's value. Its type is that with which the program began.
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// An array that a program has published.
struct ObservedArray {
    std::string name;
    std::string dtype;  ///< NumPy's name, as "float64"
    std::int64_t itemsize = 0;
    Shape shape;
};

using InterruptCheck = void (*)();

struct ObserveOptions {
    std::string key = {};  ///< path of the key file; "": on one host, for one user
    /// Of each wait, seconds: for the port, and for every answer. None: 10 for the port, and no
    /// limit for answers.
    std::optional<double> timeout = {};
    bool secure = true;  ///< false: unencrypted, where the port says so too
    /// Called some times a second while it waits; ends the wait by throwing (a language's Ctrl-C).
    InterruptCheck interrupt = nullptr;
};

/// A look into a program that has a port. A handle. Its program gives a consistent picture: all
/// processes copy at the same of their polls (Port::poll). @throws of every call: DeadlineError;
/// PeerLostError where the program is gone; EndOfStream once it has closed its port.
class Observer {
  public:
    /// `port`: the name of a port of this user on this host, or "host:port". @throws Error if there
    /// is none, or the port refuses this key.
    static Observer open(const std::string& port, const ObserveOptions& options = {});

    /// The arrays that the program has published, in its order, as of the last message received.
    std::vector<ObservedArray> arrays() const;
    std::vector<std::pair<std::string, Value>> parameters() const;
    /// Elements of a section, one slice a dimension, as they are at one poll of the program.
    /// `strides` in bytes, one for each dimension that the slices keep; none: dense, row-major.
    void read(const std::string& name, std::span<const Slice> slices, void* data,
              std::optional<Shape> strides = {});
    /// Gives a parameter a value on all processes; returns once it has it. @throws Error for a
    /// value of another type, and without the right to steer.
    void set(const std::string& name, const Value& value);
    /// How many polls the program had made when it last answered.
    std::int64_t step() const;
    /// Whether the program stores numbers with their highest byte first, unlike this process.
    bool swapped() const;
    void close();

  private:
    explicit Observer(std::shared_ptr<net::Session> session) : session_(std::move(session)) {}
    handle::Shared<net::Session, "Observer"> session_;
};

/// A port of this user on this host.
struct PortInfo {
    std::string name;
    std::int64_t process, processes;
    std::string address;  ///< host:port; "": it is found on this host only
};
std::vector<PortInfo> ports();

/// Writes the key of one right, "read", "steer" or "join", of a key file into a file of its own:
/// for somebody who may look on but not steer. @throws Error
void give_key(const std::string& key, const std::string& right, const std::string& path);

/// The library that encrypts ports, as "OpenSSL 3.0.19 27 Jan 2026"; "" in a build without one.
std::string encryption_library();

}  // namespace hocket
