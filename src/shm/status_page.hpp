// SPDX-License-Identifier: BSD-3-Clause
// A page in which each process publishes whether it has left, and which collective calls it waits
// to begin. Other processes of its node read it at any time, also after its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shm/liveness.hpp"
#include "shm/mapping.hpp"

namespace hocket::shm {

/// The address of this process's page for others; invalid if memory cannot be shared.
SharedAddress own_status_page();
/// This process has left: it sends nothing more.
void publish_departure();

/// In between, others can see that this process waits to begin a collective call with them.
/// `number` identifies the call on all of them.
void publish_wait(std::uint64_t number);
void end_wait(std::uint64_t number);

/// Another process's page.
class StatusPage {
  public:
    StatusPage() = default;  ///< unknown
    explicit StatusPage(const SharedAddress& address) : page_(map(address)) {}
    /// From the open files of a process; unknown if it has no page yet.
    static StatusPage of(std::int64_t process);
    bool known() const { return page_ != nullptr; }
    /// Whether it has left in good order; false if that is unknown.
    bool left() const;
    /// Whether it waits to begin that call; false if that is unknown.
    bool waits_for(std::uint64_t number) const;

  private:
    std::shared_ptr<std::byte> page_;
};

/// Another process of the node that has loaded hocket, as this one watches it.
struct WatchedProcess {
    ProcessMonitor monitor;
    StatusPage status_page;
    std::string name;

    bool ended() const { return monitor.ended(); }
    bool left() const { return status_page.left(); }
};

}  // namespace hocket::shm
