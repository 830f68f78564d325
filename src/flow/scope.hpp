// SPDX-License-Identifier: BSD-3-Clause
// A scope: the steps of one sequential program, which are those of the flow or those nested in one
// step.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "flow/queue.hpp"
#include "flow/records.hpp"
#include "flow/step.hpp"

namespace hocket::flow {

/// The first failure, in the order of insertion.
struct Failure {
    std::uint64_t number = ~std::uint64_t{0};
    std::string step;
    std::exception_ptr error;
    /// The failure, for the step to which this scope belongs.
    std::exception_ptr nested() const;
    [[noreturn]] void raise() const;
};

class Scope {
  public:
    /// `owner`: the outer step; nullptr for the flow's scope. `remembers`: keeps ended steps, for
    /// `seen`, as long as the scope lives.
    Scope(Step* owner, bool remembers)
        : owner_(owner), remembers_(remembers), records_(!remembers) {}

    /// A new step of this scope, in new memory or in that of an ended step with another generation.
    /// The caller holds `inserting`.
    Step& make();
    /// Adds the step's accesses and its incoming edges: from now on it waits. Calls `seen(ref)` for
    /// each step that it waits for, or would if it had not ended. The caller holds `inserting`.
    template <class Seen>
    void order(Step& step, std::span<const Access> accesses, Seen&& seen);
    /// The steps that conflict with the region, and have not ended, or have failed.
    std::vector<Ref> users_of(const Region& region);
    /// Whether an unfinished step inserted before `step` writes a conflicting region. Ignores steps
    /// that commute or reduce with `step`.
    bool changed_before(const Step& step, const Region& region);

    /// The last action of a step. Its memory is free again unless it failed. True if all steps and
    /// the owner's body have ended.
    bool leave(Step& step);
    /// The owner's body has ended, and inserts no more. True if all steps have ended.
    bool leave_body() {
        const std::int64_t rest = all_left - entered_.load(std::memory_order_relaxed);
        return ended_.fetch_add(rest) + rest == all_left;
    }
    /// Only by the thread that inserts.
    void enter() {
        entered_.store(entered_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    /// Of the inserted steps; for a nested scope only until its owner's body has ended.
    std::int64_t unfinished() const {
        const std::int64_t ended = ended_.load();
        return entered_.load(std::memory_order_acquire) - ended;
    }
    /// A thread runs a step's function from now on, or no more because the step pauses.
    void begins() { begun_.fetch_add(1, std::memory_order_relaxed); }
    void pauses() { begun_.fetch_sub(1, std::memory_order_relaxed); }
    /// Whether threads run all inserted steps that have not ended; only by the thread that inserts.
    /// False if one has communicated, or was stopped.
    bool all_begun() const {
        return begun_.load(std::memory_order_relaxed) == entered_.load(std::memory_order_relaxed);
    }
    /// Whether there may be `count` unfinished steps; only by the thread that inserts. It reads the
    /// number of ended steps only if that matters, because other threads write it constantly.
    bool has_unfinished(std::int64_t count) {
        const std::int64_t entered = entered_.load(std::memory_order_relaxed);
        if (entered - ended_before_ < count) return false;
        ended_before_ = ended_.load();
        return entered - ended_before_ >= count;
    }

    void fail(const Step& step, std::exception_ptr error);
    /// The first failure, if any; forgets it and the steps that it stopped. Only while no step
    /// runs.
    Failure take_failure();
    bool failed() const { return failed_.load(); }
    Failure failure();

    Step* owner() const { return owner_; }
    SpinLock inserting;

  private:
    // Larger than any number of steps. After its last action a step must not touch the scope,
    // because the last step ends it.
    static constexpr std::int64_t all_left = std::int64_t{1} << 62;
    static bool matters(const Ref& ref) {
        return ref.step->generation == ref.generation && (!ref.step->ended() || ref.step->failed);
    }

    Step* const owner_;
    const bool remembers_;
    Records records_;
    std::vector<std::unique_ptr<Step[]>> slabs_;
    Step* free_ = nullptr;
    std::vector<Step*> failed_steps_;
    std::mutex failing_;
    Failure first_failure_;
    std::atomic<bool> failed_{false};
    std::size_t sweep_at_ = 256;
    std::atomic<std::int64_t> entered_{0};
    std::int64_t ended_before_ = 0;
    // Written by steps as they end.
    alignas(64) std::atomic<Step*> retired_{nullptr};
    std::atomic<std::int64_t> ended_{0}, begun_{0};
};

template <class Seen>
void Scope::order(Step& step, std::span<const Access> accesses, Seen&& seen) {
    const auto wait_for = [&](const Ref& ref) {
        Step& earlier = *ref.step;
        if (earlier.generation != ref.generation) return false;
        if (&earlier == &step) return true;
        seen(ref);
        Edge* head = earlier.successors.load(std::memory_order_acquire);
        if (head != Step::ended_mark()) {
            Edge& edge = step.new_edge();
            edge.to = &step;
            step.waits.fetch_add(1, std::memory_order_relaxed);
            do {
                edge.next = head;
                if (earlier.successors.compare_exchange_weak(head, &edge,
                                                             std::memory_order_acq_rel))
                    return true;
            } while (head != Step::ended_mark());
            step.waits.fetch_sub(1, std::memory_order_relaxed);
        }
        if (earlier.failed) step.stopped.store(true, std::memory_order_relaxed);
        return earlier.failed || remembers_;
    };
    for (const Access& access : accesses) {
        Record& record = records_.use(step, access, wait_for);
        if (access.kind == Access::Kind::commute) {
            auto& locks = step.more().locks;
            if (std::find(locks.begin(), locks.end(), &record) == locks.end())
                locks.push_back(&record);
        } else if (access.kind == Access::Kind::reduce) {
            step.more().reductions.push_back(access);
            step.more().reduced.push_back(&record);
        }
    }
    if (records_.size() >= sweep_at_ && !remembers_) {
        records_.sweep(matters);
        sweep_at_ = 2 * records_.size() + 256;
    }
}

}  // namespace hocket::flow
