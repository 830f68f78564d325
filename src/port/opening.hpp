// SPDX-License-Identifier: BSD-3-Clause
// The connections between the processes of two jobs that have met. By TCP all open in the meeting,
// where every process polls. By Unix sockets, on one host, each job of several processes has few of
// them at first; the others open at their first use:
//
//   1. A process of the connecting job that sends to, or waits for, one of the accepting job dials
//      its Unix socket.
//   2. A process of the accepting job never dials. It asks a process of the other job, to which it
//      has a connection, to tell the one that it needs; that one dials.
//
// Invariant: every process has a standing connection from the meeting on, so that it can ask, and
// sees the end of the other job.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "net/dial.hpp"
#include "port/listener.hpp"
#include "port/meeting.hpp"

namespace hocket::port {

class Opening {
  public:
    virtual ~Opening() = default;
    Opening() = default;
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;

    /// The connection with that process of the other job, once it is there: call it until then.
    /// `wanted`: this process needs it; else it comes only if the other one has dialled. @throws
    /// Error
    virtual std::unique_ptr<net::Connection> connection(int process, bool wanted) = 0;
    /// Lets others in.
    virtual void advance() {}
    /// Processes for which a dial is under way.
    virtual std::vector<int> dialling() const { return {}; }
    /// Whether the system has accepted a connection to that process, which has not answered yet.
    virtual bool awaits(int /*process*/) const { return false; }
    /// Processes of the other job that shall dial this one; each is named once.
    virtual std::vector<int> asked() { return {}; }

    /// A connection is lost: the other job is about to end as a whole.
    void lose(const std::string& why);
    /// Why no further one opens. A process that has ended regularly ends its connections earlier
    /// than the rest of its job, which has a second to dial.
    std::optional<std::string> lost() const;

  private:
    std::string lost_;
    double lost_at_ = 0;
};

/// Whether the two have a connection from the meeting on.
bool stands(const Meeting& meeting, int acceptor, int connector);
/// One with which that process has: of the other job.
int standing_of(const Meeting& meeting, bool is_acceptor, int process);

/// Of the accepting job.
class Reception final : public Opening {
  public:
    /// `own`: at which others reach this process. `sockets`: of the processes of this node, by
    /// process. `port`: on process 0, the port's own listener.
    Reception(std::unique_ptr<Listener> own, const Meeting& meeting, int process,
              std::vector<std::string> sockets, std::shared_ptr<Listener> port);
    ~Reception() override;

    std::unique_ptr<net::Connection> connection(int process, bool wanted) override;
    void advance() override;
    /// All have met: the port hands on no further connection, and may end.
    void end_meeting();
    std::vector<int> asked() override { return std::exchange(asks_, {}); }
    /// Standing connections that have not come; -1: they have, and hold bytes to be sent.
    int missing();

  private:
    std::unique_ptr<Listener> own_;
    std::shared_ptr<Listener> port_;
    net::Instance session_;
    std::vector<std::unique_ptr<net::Connection>> arrived_;
    std::vector<bool> standing_, come_;
    std::set<int> asked_;
    std::vector<int> asks_;  // of those, the ones that `asked` has not given
    double next_look_ = 0;
};

/// Of the connecting job.
class Dialler final : public Opening {
  public:
    /// `name`: by which this job has found the port. @throws Error where a process cannot be
    /// reached.
    Dialler(Meeting meeting, std::string name, const ConnectOptions& options, int process);

    std::unique_ptr<net::Connection> connection(int process, bool wanted) override;
    std::vector<int> dialling() const override;
    bool awaits(int process) const override;
    /// True once that process has answered: `connection` gives it.
    bool dial(int process);

  private:
    net::DialOptions options_to(int process) const;

    Meeting meeting_;
    std::string name_, key_;
    bool secure_;
    int process_;
    std::map<int, std::unique_ptr<net::Dial>> dials_;
};

/// Lets others in, and sends and answers requests to dial, whatever this process waits for.
void keep_opening(const std::shared_ptr<Tasks::State>& tasks, const Meeting& meeting,
                  bool is_acceptor, const std::shared_ptr<Opening>& opening);

}  // namespace hocket::port
