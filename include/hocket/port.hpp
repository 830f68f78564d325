// SPDX-License-Identifier: BSD-3-Clause
// Ports: where programs that were started separately find this one, look into it and steer it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/observer.hpp"
#include "hocket/operation.hpp"
#include "hocket/task.hpp"

namespace hocket {

namespace port {
struct State;  // src/port/state.hpp
}

struct PortOptions {
    std::string task = {};  ///< how jobs that connect call this one; "": as the port
    /// host:port where it listens for other hosts; port 0: a free one. "": a free port of all of
    /// this host's addresses if there is a key, and none if there is not.
    std::string address = {};
    /// Path of a key file of at least 32 bytes, which both sides have. "": none is needed on this
    /// host for this user; with an address one is made.
    std::string key = {};
    bool secure = true;  ///< false: unencrypted to other hosts, where they say so too
    Deadline deadline = {};
};

/// A number, flag or text that observers change. All processes see a new value from the same poll
/// on. A handle.
class Parameter {
  public:
    const std::string& name() const;
    Value value() const;

  private:
    friend class Port;
    Parameter(std::string name, std::shared_ptr<const Value> value)
        : name_(std::move(name)), value_(std::move(value)) {}
    std::string name_;
    handle::Shared<const Value, "Parameter"> value_;
};

/// For each channel with kept frames, the number of the last frame that this job has sent or
/// received, counted from 1: a restarted job says so where it goes on. A receiver that names none
/// takes the first frame that was not acknowledged; a sender begins with 1, and the frames that the
/// other job has are skipped.
using Resume = std::vector<std::pair<std::string, std::int64_t>>;

/// A port of a running program. A handle. All calls but those that only look are collective over
/// the communicator, and an error of one process is raised on all of them.
class Port {
  public:
    /// Collective. Process 0 listens: at a Unix socket that only this user reaches, and at a TCP
    /// port if the options say so. The name stands in a folder of this user until the program ends.
    /// @throws Error on every process: a name that is taken, an address that cannot be had, a key
    /// file that others may read, encryption without OpenSSL.
    static Port open(const std::string& name, const Comm& comm, const PortOptions& options = {});

    const std::string& name() const;
    /// host:port; if the port is open on this host only, the path of its socket. connect and
    /// Observer take either.
    const std::string& address() const;
    const std::string& key() const;  ///< path of the key file; "": there is none
    const Comm& comm() const;

    /// Lets observers see the array, from the next poll on; the port keeps it alive. An array of
    /// the same name takes the place of the old one. Collective. @throws Error on every process.
    void publish(const std::string& name, const Array& array, Deadline deadline = {});
    /// A parameter that observers may change. Collective; all processes give the same value.
    /// @throws MismatchError where they do not; Error for a name that is taken.
    Parameter parameter(const std::string& name, const Value& value, Deadline deadline = {});
    /// A parameter's value as of the last poll. @throws Error if there is none of that name.
    Value value(const std::string& name) const;
    /// Copies out what observers asked for, and changes parameters. Collective: all processes make
    /// as many polls. Processes do not wait for each other, with one exception: a process that
    /// comes to a poll that serves an observer waits there for process 0. Without observers,
    /// poll() reads a clock.
    void poll(Deadline deadline = {});
    /// The number of polls that this process has made.
    std::int64_t polls() const;
    /// Waits for a job that connects: task 0 is this job, task 1 the other one. Each may connect
    /// with any MPI. Collective. @throws on every process: DeadlineError where none has come;
    /// PeerLostError where its processes do not come.
    ///
    /// Channels with kept frames (Tasks::channel) wait here by themselves for a job that was lost,
    /// as long as its `reconnect` says, else a minute.
    Tasks accept(Deadline deadline = {}, const Resume& resume = {});
    /// Closes the port: observers get an end message, and the name is free. Collective.
    void close(Deadline deadline = {});

  private:
    explicit Port(std::shared_ptr<port::State> state) : state_(std::move(state)) {}
    handle::Shared<port::State, "Port"> state_;
};

struct ConnectOptions {
    std::string task = "viewer";  ///< how the job that has the port calls this one
    std::string key = {};         ///< path of the key file; "": on one host, for one user
    bool secure = true;           ///< false: unencrypted, where the port says so too
    Deadline deadline = {};       ///< of the wait until the other job accepts
    /// After a loss, calls of channels with kept frames dial again for so many seconds; 0: they
    /// throw PeerLostError.
    double reconnect = 0;
    Resume resume = {};
};

/// Connects to a job that has a port: task 0 is that job, task 1 this one. Collective over `comm`.
/// `name`: of a port of this user on this host, or host:port. @throws on every process: Error where
/// this job is not let in; DeadlineError; PeerLostError.
Tasks connect(const std::string& name, const Comm& comm, const ConnectOptions& options = {});
/// Leaves the jobs that have met, and ends the handle: what was sent arrives. Collective over this
/// process's task.
void disconnect(Tasks& tasks, Deadline deadline = {});

}  // namespace hocket
