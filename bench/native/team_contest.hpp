// SPDX-License-Identifier: BSD-3-Clause
// Common to the benchmarks of teams.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "hocket/team.hpp"

namespace hocket_bench {

/// The limit: every process sets its own flag and polls all others'.
class Flags {
  public:
    explicit Flags(MPI_Comm comm) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
        void* mine = nullptr;
        MPI_Win_allocate_shared(sizeof(Flag), 1, MPI_INFO_NULL, comm, &mine, &window_);
        new (mine) Flag;
        MPI_Barrier(comm);
        for (int rank = 0; rank < size_; ++rank) {
            MPI_Aint bytes = 0;
            int unit = 0;
            void* at = nullptr;
            MPI_Win_shared_query(window_, rank, &bytes, &unit, &at);
            flags_.push_back(static_cast<Flag*>(at));
        }
    }
    Flags(const Flags&) = delete;
    Flags& operator=(const Flags&) = delete;
    ~Flags() { MPI_Win_free(&window_); }

    void wait(bool crowded) {
        ++round_;
        flags_[static_cast<std::size_t>(rank_)]->raised.store(round_, std::memory_order_release);
        for (const Flag* flag : flags_)
            for (int looks = 0; flag->raised.load(std::memory_order_acquire) < round_; ++looks)
                if (crowded && looks > 20) sched_yield();
    }

  private:
    struct alignas(128) Flag {
        std::atomic<std::uint64_t> raised{0};
    };
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<Flag*> flags_;
    std::uint64_t round_ = 0;
    int rank_ = 0, size_ = 0;
};

struct World {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 0;
    std::unique_ptr<hocket::Team> team;
    Group group;
    Effort effort;
};

/// A call whose result is one number.
template <class T>
Contestant number(const std::string& name, std::function<T()> call, T expected) {
    auto found = std::make_shared<T>();
    return {name, [call, found] { *found = call(); }, [found] { *found = T(99); },
            [found, expected]() -> std::string {
                if (*found == expected) return {};
                std::ostringstream out;
                out << "found " << +*found << ", not " << +expected;
                return out.str();
            }};
}

/// MPI lets the first processes of a broadcast or a scan continue before the last have arrived: in
/// a series of calls they run ahead. A barrier after the call gives a team's semantics.
template <class T>
Contestant with_barrier(const World& world, std::function<T()> call, T expected) {
    return number<T>(
        "MPI, with a barrier",
        [call = std::move(call), &world] {
            const T found = call();
            MPI_Barrier(world.comm);
            return found;
        },
        expected);
}

inline Contestant nothing(const std::string& name, std::function<void()> call) {
    return {name, std::move(call), [] {}, [] { return std::string(); }};
}

inline void compare(const World& world, const std::string& table, const std::string& operation,
                    const std::string& type, const std::vector<Contestant>& contestants) {
    Question question;
    question.parameters = {{"operation", quoted(operation)},
                           {"type", quoted(type)},
                           {"table", quoted(table)},
                           {"processes", std::to_string(world.size)}};
    question.baseline = {"MPI"};
    for (const auto& each : contestants)
        if (each.name == "raw flags") question.limit = {each.name};
    measure(question, contestants, world.group, world.effort);
}

}  // namespace hocket_bench
