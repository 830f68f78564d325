// SPDX-License-Identifier: BSD-3-Clause
// Which processes of this node are still there.
#pragma once

#include <cstdint>
#include <optional>

namespace hocket::shm {

/// A process, in words that other processes of its node understand.
struct ProcessIdentity {
    std::int64_t process = 0;        // its id
    std::int64_t start = 0;          // clock tick of its start: ids are used again
    std::int64_t pid_namespace = 0;  // the namespace in which the id means it
};
ProcessIdentity own_identity();

/// An eye on one process of this node. Holds one file descriptor where the system has pidfd_open.
class ProcessMonitor {
  public:
    /// Nothing where that process cannot be seen from here: another node or container, or an end
    /// before we looked.
    static std::optional<ProcessMonitor> on(const ProcessIdentity& identity);
    ProcessMonitor(ProcessMonitor&& other) noexcept;
    ProcessMonitor& operator=(ProcessMonitor&&) = delete;
    ~ProcessMonitor();

    /// Whether the process has ended; one whose parent has not asked for its status counts.
    bool ended() const;

  private:
    ProcessMonitor(const ProcessIdentity& identity, int file) : identity_(identity), file_(file) {}
    ProcessIdentity identity_;
    int file_;  // -1: /proc is asked instead
};

}  // namespace hocket::shm
