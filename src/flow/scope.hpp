// SPDX-License-Identifier: BSD-3-Clause
// The steps of one sequential program: those of the flow, or those of one step.
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

/// What has gone wrong first, in the order of insertion.
struct Failure {
    std::uint64_t number = ~std::uint64_t{0};
    std::string step;
    std::exception_ptr error;
    /// As the failure of the step that this one belongs to.
    std::exception_ptr nested() const;
    [[noreturn]] void raise() const;
};

class Scope {
  public:
    /// `owner`: the step whose steps these are; nullptr for the flow's. `remembers`: steps that
    /// have ended are told to `seen` as well, for as long as the scope lives.
    Scope(Step* owner, bool remembers)
        : owner_(owner), remembers_(remembers), records_(!remembers) {}

    /// A step of this scope, in new memory or in that of one that has ended. Its generation is its
    /// own. The caller holds `inserting`.
    Step& make();
    /// Its use of regions, and the edges to it: from now on it waits. `seen(ref)` is told of each
    /// step that it waits for, or would have. The caller holds `inserting`.
    template <class Seen>
    void order(Step& step, std::span<const Access> accesses, Seen&& seen);
    /// The steps that use what conflicts with the region, and have not ended, or have failed.
    std::vector<Ref> users_of(const Region& region);
    /// Whether a step that was inserted before that one changes what conflicts with the region, and
    /// has not ended. Those beside which it may change it itself, as they commute or reduce with
    /// it, do not count.
    bool changed_before(const Step& step, const Region& region);

    /// Counts a step out; its memory may be used again unless it failed. The last act of a step.
    /// True if all has left, the body of the owner, too.
    bool leave(Step& step);
    /// The owner's body has ended, and inserts no more. True if all else has left.
    bool leave_body() {
        const std::int64_t rest = all_left - entered_.load(std::memory_order_relaxed);
        return ended_.fetch_add(rest) + rest == all_left;
    }
    /// Only by the thread that inserts.
    void enter() {
        entered_.store(entered_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    /// Of those inserted; of a step's only until its body has ended.
    std::int64_t unfinished() const {
        const std::int64_t ended = ended_.load();
        return entered_.load(std::memory_order_acquire) - ended;
    }
    /// Whether there may be so many; only by the thread that inserts. What has ended it looks up
    /// only where it matters, as others write it all the time.
    bool has_unfinished(std::int64_t count) {
        const std::int64_t entered = entered_.load(std::memory_order_relaxed);
        if (entered - ended_before_ < count) return false;
        ended_before_ = ended_.load();
        return entered - ended_before_ >= count;
    }

    void fail(const Step& step, std::exception_ptr error);
    /// The failure so far, if any; forgets it and what it stopped. Only while nothing runs.
    Failure take_failure();
    bool failed() const { return failed_.load(); }
    Failure failure();

    Step* owner() const { return owner_; }
    SpinLock inserting;

  private:
    // More than any number of steps. Who counts itself out may look at nothing else then, as the
    // last one ends the scope.
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
    // What steps write as they end.
    alignas(64) std::atomic<Step*> retired_{nullptr};
    std::atomic<std::int64_t> ended_{0};
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
