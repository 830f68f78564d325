// SPDX-License-Identifier: BSD-3-Clause
#include "shm/missing_ranks.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/environment.hpp"
#include "base/platform.hpp"

namespace hocket::shm {

namespace {

constexpr double between_files = 0.1, between_processes = 0.5;
// Reading /proc takes some milliseconds, so the interval grows.
constexpr double most_between_scans = 5;
constexpr double long_wait = 10;

// The file of a process in the folder of the run; none outside of `hocket run`.
std::string file_of(int world_rank, const char* suffix) {
    const auto folder = environment::value_of("HOCKET_RUN");
    return folder ? *folder + "/" + std::to_string(world_rank) + suffix : "";
}

// The launcher's description: "rank 1 (task 'cols', process 0)".
std::string absent_of_run(const std::vector<int>& ranks) {
    if (file_of(0, "").empty()) return "";
    for (const int rank : ranks) {
        std::ifstream file(file_of(rank, ".absent"));
        if (std::string words; std::getline(file, words))
            return words + " has ended without a call of hocket";
    }
    return "";
}

// Equal on all of these processes, and most likely another number for other processes (FNV-1a).
std::uint64_t number_of(const std::vector<int>& ranks) {
    std::uint64_t number = 0xcbf29ce484222325U;
    for (const int rank : ranks)
        number = (number ^ static_cast<std::uint64_t>(rank)) * 0x100000001b3U;
    return number;
}

std::string listed(const std::vector<int>& ranks) {
    constexpr std::size_t most = 8;
    std::string out = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (ranks.size() > most) out += " and " + std::to_string(ranks.size() - most) + " more";
    return out;
}

}  // namespace

void take_part(int world_rank) {
    static const bool published = [&] {
        const std::string file = file_of(world_rank, ".here");
        return !file.empty() && std::ofstream(file).good();
    }();
    static_cast<void>(published);
}

ExpectedRanks::ExpectedRanks(std::vector<int> ranks, int me, std::optional<Launcher> launcher,
                             bool on_one_node)
    : ranks_(std::move(ranks)),
      me_(me),
      number_(number_of(ranks_)),
      since_(platform::seconds()),
      next_file_(since_ + between_files),
      next_look_(since_ + between_processes),
      next_scan_(next_look_),
      between_scans_(between_processes),
      all_are_here_(on_one_node) {
    publish_wait(number_);
    // Simulated processes are threads of one process.
    if (!platform::simulated && ranks_.size() > 1) launcher_ = std::move(launcher);
}

bool ExpectedRanks::any_missing() {
    const double now = platform::seconds();
    if (!absent_.empty() || now < next_file_) return !absent_.empty();
    next_file_ = now + between_files;
    absent_ = absent_of_run(ranks_);
    if (absent_.empty() && launcher_ && now >= next_look_) look_at_processes(now);
    return !absent_.empty();
}

void ExpectedRanks::look_at_processes(double now) {
    next_look_ = now + between_processes;
    const bool reports = !reported_ && now >= since_ + long_wait;
    if (reports || now >= next_scan_) scan(now);
    // Two scans, because a process may be about to call exec.
    const std::string before = std::exchange(gone_, first_gone());
    if (!gone_.empty()) next_scan_ = now;
    if (!gone_.empty() && gone_ == before) absent_ = gone_;
    if (reports) report();
}

void ExpectedRanks::scan(double now) {
    next_scan_ = now + between_scans_;
    between_scans_ = std::min(2 * between_scans_, most_between_scans);
    const auto all = launched_processes(*launcher_);
    complete_ = all && (all->empty() || all->begin()->first >= 0);
    if (!all) return;
    for (auto& [rank, processes] : here_) processes.clear();  // a present process does not move
    for (const auto& [rank, launched] : *all) {
        auto monitor = ProcessMonitor::on(launched[0]);
        if (rank < 0 || !monitor) continue;
        here_[rank].push_back(std::move(*monitor));
        auto& loaded = loaded_[launched[0]];  // also those that have ended since an earlier scan
        for (const auto& below : launched) {
            if (loaded.contains(below.process)) continue;
            auto status_page = status_page_of(below.process);
            if (status_page == nullptr) continue;
            if (auto its = ProcessMonitor::on(below)) {
                its->set_status_page(std::move(status_page));
                loaded.emplace(below.process, std::move(*its));
            }
        }
    }
}

ExpectedRanks::State ExpectedRanks::state(const ProcessMonitor& process) const {
    if (process.ended()) return State::ended;
    const auto& loaded = loaded_.at(process.identity());
    State its = loaded.empty() ? State::alive : State::ended;
    for (const auto& [number, each] : loaded) {
        const bool left = each.left();
        if (!left && !each.ended()) return each.waits_for(number_) ? State::waits : State::alive;
        if (left) its = State::left;
    }
    return its;
}

// Usually each rank has one process. A negative rank belongs to another MPI_COMM_WORLD.
ExpectedRanks::State ExpectedRanks::state(int rank) const {
    if (rank == me_) return State::waits;
    const auto found = here_.find(rank);
    if (found == here_.end() || found->second.empty()) {
        const bool belongs_here = found != here_.end() || (all_are_here_ && rank >= 0);
        return belongs_here && complete_ ? State::ended : State::unknown;
    }
    State its = State::ended;
    for (const auto& process : found->second) {
        const State one = state(process);
        if (one == State::waits || one == State::alive) return one;
        if (one == State::left) its = one;
    }
    return its;
}

std::string ExpectedRanks::first_gone() const {
    for (const int rank : ranks_) {
        const State its = state(rank);
        if (its == State::left) return "rank " + std::to_string(rank) + " has left (MPI_Finalize)";
        if (its == State::ended) return "rank " + std::to_string(rank) + " has ended";
    }
    return "";
}

std::string ExpectedRanks::late() {
    if (launcher_ && here_.empty()) scan(platform::seconds());
    std::vector<int> late;
    std::ranges::copy_if(ranks_, std::back_inserter(late),
                         [&](int rank) { return state(rank) == State::alive; });
    return late.empty() ? "" : listed(late);
}

void ExpectedRanks::report() {
    std::vector<int> late;
    int hidden = 0;
    for (const int rank : ranks_) {
        const State its = state(rank);
        if (its == State::waits && rank < me_) {
            reported_ = true;  // by that process
            return;
        }
        if (its == State::alive) late.push_back(rank);
        if (its == State::unknown) ++hidden;
    }
    // In two scans: a process that no longer waits may have made the call a moment before its end.
    if (late != std::exchange(late_, late)) return;
    reported_ = true;
    if (late.empty() && (hidden == 0 || me_ != ranks_.front())) return;
    std::string words = "hocket: rank " + std::to_string(me_) +
                        " has been waiting for 10 s for a collective call of " +
                        std::to_string(ranks_.size()) + " processes to begin";
    if (!late.empty())
        words += "; " + listed(late) + (late.size() == 1 ? " has" : " have") + " not made it yet";
    if (hidden > 0)
        words += "; this node cannot see whether " + std::to_string(hidden) + " of them have";
    std::fprintf(stderr, "%s\n", words.c_str());
    std::fflush(stderr);
}

}  // namespace hocket::shm
