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

/// The page of a process, by its open files; nullptr if it has none yet.
std::shared_ptr<std::byte> status_page_of(std::int64_t process);

/// Another process of the node that has loaded hocket, as this one watches it.
struct WatchedProcess {
    ProcessMonitor monitor;
    std::shared_ptr<std::byte> status_page;  // nullptr: unknown
    std::string name;

    bool ended() const { return monitor.ended(); }
    /// Whether it has left in good order; false if that is unknown.
    bool left() const;
    /// Whether it waits to begin that call; false if that is unknown.
    bool waits_for(std::uint64_t number) const;
};

}  // namespace hocket::shm
