// SPDX-License-Identifier: BSD-3-Clause
// The processes for which an operation waits. A wait polls the operation once with a list, to which
// each pending wait for a process adds that process. So a wait can see whether a departed process
// matters to it, at no cost while all processes are present.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hocket::comm {

class AwaitedPeers {
  public:
    AwaitedPeers() : before_(collecting_) { collecting_ = this; }
    ~AwaitedPeers() { collecting_ = before_; }
    AwaitedPeers(const AwaitedPeers&) = delete;
    AwaitedPeers& operator=(const AwaitedPeers&) = delete;

    /// The list of this thread; nullptr: no wait collects now.
    static AwaitedPeers* collecting() { return collecting_; }
    /// Processes by their numbers, as Link has them: one of them must act.
    void add_any(std::vector<std::int64_t> processes) { any_of_.push_back(std::move(processes)); }
    const std::vector<std::vector<std::int64_t>>& any_of() const { return any_of_; }
    /// Processes whose ids are unknown yet, by name: "rank 1"; "" adds none.
    void add_names(std::string names) {
        if (names.empty() || std::find(names_.begin(), names_.end(), names) != names_.end()) return;
        names_.push_back(std::move(names));
    }
    const std::vector<std::string>& names() const { return names_; }

  private:
    static inline thread_local AwaitedPeers* collecting_ = nullptr;
    AwaitedPeers* before_;
    std::vector<std::vector<std::int64_t>> any_of_;
    std::vector<std::string> names_;
};

}  // namespace hocket::comm
