// SPDX-License-Identifier: BSD-3-Clause
// Whether processes of this node still live.
#pragma once

#include <cstdint>
#include <optional>

namespace hocket::shm {

/// A process, as other processes of its node can name it.
struct ProcessIdentity {
    std::int64_t process = 0;        // its id
    std::int64_t start = 0;          // clock tick of its start: ids are used again
    std::int64_t pid_namespace = 0;  // the namespace of the id
};
ProcessIdentity own_identity();

/// Watches one process of this node. Holds one file descriptor if the system has pidfd_open.
class ProcessMonitor {
  public:
    /// Nothing if this process cannot see that one, because it has ended, or is on another node or
    /// in another container.
    static std::optional<ProcessMonitor> on(const ProcessIdentity& identity);
    ProcessMonitor(ProcessMonitor&& other) noexcept;
    ProcessMonitor& operator=(ProcessMonitor&&) = delete;
    ~ProcessMonitor();

    /// Whether the process has ended, even if its parent has not asked for its status yet.
    bool ended() const;

  private:
    ProcessMonitor(const ProcessIdentity& identity, int file) : identity_(identity), file_(file) {}
    ProcessIdentity identity_;
    int file_;  // -1: none, so it reads /proc
};

}  // namespace hocket::shm
