// SPDX-License-Identifier: BSD-3-Clause
// Whether processes of this node still live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace hocket::shm {

/// A process, as other processes of its node can name it.
struct ProcessIdentity {
    std::int64_t process = 0;        // its id
    std::int64_t start = 0;          // clock tick of its start: ids are used again
    std::int64_t pid_namespace = 0;  // the namespace of the id

    bool operator==(const ProcessIdentity&) const = default;
    bool operator<(const ProcessIdentity& other) const {
        return std::tie(process, start, pid_namespace) <
               std::tie(other.process, other.start, other.pid_namespace);
    }
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
    /// Whether it has left in good order; false if that is unknown.
    bool left() const;
    /// Whether it waits to begin that call (publish_wait); false if that is unknown.
    bool waits_for(std::uint64_t number) const;
    bool knows_status() const { return status_page_ != nullptr; }
    void set_status_page(std::shared_ptr<std::byte> page) { status_page_ = std::move(page); }
    const ProcessIdentity& identity() const { return identity_; }

  private:
    ProcessMonitor(const ProcessIdentity& identity, int file) : identity_(identity), file_(file) {}
    ProcessIdentity identity_;
    std::shared_ptr<std::byte> status_page_;  // nullptr: unknown
    int file_;                                // -1: none, so it reads /proc
};

}  // namespace hocket::shm
