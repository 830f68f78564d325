// SPDX-License-Identifier: BSD-3-Clause
// Processes that do not come while a private communicator is made. No process knows another's
// process id then, so hocket looks outside of MPI: `hocket run` and its processes
// leave files in the folder of the run (HOCKET_RUN), and /proc shows which processes the launcher
// has started on this node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shm/launcher.hpp"
#include "shm/liveness.hpp"
#include "shm/status_page.hpp"

namespace hocket::shm {

/// Call before this process opens a communicator.
void take_part(int world_rank);

/// All processes of a communicator, while this one waits for them to open it.
class ExpectedRanks {
  public:
    /// `ranks`: of all of them, in MPI_COMM_WORLD. `launcher`: marks of its processes, if it is
    /// known. `on_one_node`: all of MPI_COMM_WORLD is on this node.
    ExpectedRanks(std::vector<int> ranks, int me, std::optional<Launcher> launcher,
                  bool on_one_node);
    ~ExpectedRanks() { end_wait(number_); }
    ExpectedRanks(const ExpectedRanks&) = delete;
    ExpectedRanks& operator=(const ExpectedRanks&) = delete;

    /// Call it often; it looks a few times a second. After 10 s, the lowest waiting process of each
    /// node prints once on stderr which processes are missing.
    bool any_missing();
    /// A missing process that has ended or left: "rank 1 has left (MPI_Finalize)".
    const std::string& absent() const { return absent_; }
    /// The processes of this node that have not made the call: "rank 1" or "ranks 1, 2"; or "".
    std::string late();
    int size() const { return static_cast<int>(ranks_.size()); }

  private:
    enum class State { unknown, alive, waits, left, ended };
    std::vector<int> ranks_;  // in MPI_COMM_WORLD, as all below
    int me_;
    std::uint64_t number_;  // for this set of processes
    std::optional<Launcher> launcher_;
    double since_, next_file_, next_look_, next_scan_, between_scans_;
    bool reported_ = false;
    std::vector<int> late_;  // at the last look
    // Processes that the launcher has started on this node, by rank. By each one's identity, those
    // of it that have loaded hocket, by their ids: itself, or processes that it has started.
    std::map<int, std::vector<ProcessMonitor>> here_;
    std::map<ProcessIdentity, std::map<std::int64_t, ProcessMonitor>> loaded_;
    bool all_are_here_, complete_ = false;
    std::string gone_, absent_;

    void scan(double now);
    State state(const ProcessMonitor& process) const;
    State state(int rank) const;
    std::string first_gone() const;
    void look_at_processes(double now);
    void report();
};

}  // namespace hocket::shm
