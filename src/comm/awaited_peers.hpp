// SPDX-License-Identifier: BSD-3-Clause
// Which processes an operation waits for: asked by polling it once with a list at hand, to which
// everything that waits for a process adds it. So a wait can tell whether somebody who has left
// matters to it, and nothing is kept for that while all are there.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket::comm {

class AwaitedPeers {
  public:
    AwaitedPeers() : before_(collecting_) { collecting_ = this; }
    ~AwaitedPeers() { collecting_ = before_; }
    AwaitedPeers(const AwaitedPeers&) = delete;
    AwaitedPeers& operator=(const AwaitedPeers&) = delete;

    /// The list that is at hand in this thread; nullptr: nobody asks.
    static AwaitedPeers* collecting() { return collecting_; }
    /// Processes of this host, by their ids: one of them must act.
    void add_any(std::vector<std::int64_t> processes) { any_of_.push_back(std::move(processes)); }
    const std::vector<std::vector<std::int64_t>>& any_of() const { return any_of_; }

  private:
    static inline thread_local AwaitedPeers* collecting_ = nullptr;
    AwaitedPeers* before_;
    std::vector<std::vector<std::int64_t>> any_of_;
};

}  // namespace hocket::comm
