// SPDX-License-Identifier: BSD-3-Clause
// The queues of ready steps. Steps of priority 0 wait in the ring of the worker that made them
// ready, first in, first out; idle workers steal from other rings. All other steps wait in one
// heap, by priority.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "base/platform.hpp"
#include "flow/step.hpp"

namespace hocket::flow {

/// Held for a few instructions at a time.
class SpinLock {
  public:
    void lock() {
        for (int tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries) {
            while (taken_.load(std::memory_order_relaxed)) {
                if (++tries > 100)
                    platform::yield();
                else
                    platform::pause();
            }
        }
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> taken_{false};
};

/// A ring buffer of steps, which grows.
class Ring {
  public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    const Step* first() const { return places_[first_]; }
    void push(Step* step) {
        if (size_ == places_.size()) grow();
        places_[(first_ + size_++) & (places_.size() - 1)] = step;
    }
    Step* pop() {
        Step* const step = places_[first_];
        first_ = (first_ + 1) & (places_.size() - 1);
        --size_;
        return step;
    }

    template <class Test>
    Step* take_if(Test&& test) {
        Step* found = nullptr;
        for (std::size_t left = size_; left > 0; --left) {
            Step* const step = pop();
            if (found == nullptr && test(*step))
                found = step;
            else
                push(step);
        }
        return found;
    }

  private:
    void grow() {
        std::vector<Step*> larger(std::max<std::size_t>(64, 2 * places_.size()), nullptr);
        for (std::size_t i = 0; i < size_; ++i)
            larger[i] = places_[(first_ + i) & (places_.size() - 1)];
        places_ = std::move(larger);
        first_ = 0;
    }
    std::vector<Step*> places_;  // a power of two
    std::size_t first_ = 0, size_ = 0;
};

/// The highest priority first; among equals, the one inserted first.
class Heap {
  public:
    bool empty() const { return steps_.empty(); }
    int top() const { return steps_.front()->priority; }
    void push(Step* step) {
        steps_.push_back(step);
        std::push_heap(steps_.begin(), steps_.end(), later);
    }
    Step* pop() {
        std::pop_heap(steps_.begin(), steps_.end(), later);
        Step* const step = steps_.back();
        steps_.pop_back();
        return step;
    }

    template <class Test>
    Step* take_if(Test&& test) {
        const auto at = std::find_if(steps_.begin(), steps_.end(),
                                     [&](const Step* step) { return test(*step); });
        if (at == steps_.end()) return nullptr;
        Step* const step = *at;
        steps_.erase(at);
        std::make_heap(steps_.begin(), steps_.end(), later);
        return step;
    }

  private:
    static bool later(const Step* a, const Step* b) {
        return a->priority != b->priority ? a->priority < b->priority : a->number > b->number;
    }
    std::vector<Step*> steps_;
};

class Queues {
  public:
    static constexpr int nothing = std::numeric_limits<int>::min();

    explicit Queues(int workers) : own_(static_cast<std::size_t>(workers)) {}

    void put(int worker, Step* step) {
        if (step->priority == 0) {
            Own& own = own_[static_cast<std::size_t>(worker)];
            {
                const std::lock_guard lock(own.guard);
                own.ring.push(step);
            }
            own.count.fetch_add(1);
        } else {
            const std::lock_guard lock(guard_);
            rest_.push(step);
            top_.store(rest_.top());
        }
    }

    /// Only this worker takes the step.
    void put_for(int worker, Step* step) {
        Own& own = own_[static_cast<std::size_t>(worker)];
        {
            const std::lock_guard lock(own.guard);
            own.bound.push(step);
        }
        own.bound_count.fetch_add(1);
    }

    /// nullptr: there is none. `moved()`: called when steps have moved to another ring.
    template <class Moved>
    Step* take(int worker, Moved&& moved) {
        const auto mine = static_cast<std::size_t>(worker);
        Step* step = take_bound(worker);
        if (step == nullptr && top_.load(std::memory_order_relaxed) > 0) step = take_rest();
        if (step == nullptr) step = take_own(mine);
        for (std::size_t i = 1; step == nullptr && i < own_.size(); ++i)
            step = take_from((mine + i) % own_.size(), mine, moved);
        if (step == nullptr && top_.load(std::memory_order_relaxed) != nothing) step = take_rest();
        return step;
    }

    /// A step that only this worker takes; nullptr: there is none.
    Step* take_bound(int worker) {
        Own& own = own_[static_cast<std::size_t>(worker)];
        if (own.bound_count.load(std::memory_order_relaxed) <= 0) return nullptr;
        Step* step = nullptr;
        {
            const std::lock_guard lock(own.guard);
            if (own.bound.empty()) return nullptr;
            step = own.bound.pop();
        }
        own.bound_count.fetch_sub(1, std::memory_order_relaxed);
        return step;
    }

    /// The first step that satisfies `test`, in any ring.
    template <class Test>
    Step* take_if(int worker, Test&& test) {
        Own& mine = own_[static_cast<std::size_t>(worker)];
        if (mine.bound_count.load() > 0) {
            const std::lock_guard lock(mine.guard);
            if (Step* const step = mine.bound.take_if(test)) {
                mine.bound_count.fetch_sub(1);
                return step;
            }
        }
        Step* found = nullptr;
        for (Own& own : own_) {
            const std::lock_guard lock(own.guard);
            found = own.ring.take_if(test);
            if (found == nullptr) continue;
            own.count.fetch_sub(1);
            break;
        }
        if (found == nullptr) {
            const std::lock_guard lock(guard_);
            found = rest_.take_if(test);
            top_.store(rest_.empty() ? nothing : rest_.top());
        }
        return found;
    }

    /// Whether a step of higher priority may be waiting.
    bool has_above(int priority) const {
        return top_.load(std::memory_order_relaxed) > priority || (priority < 0 && any(0));
    }
    /// Invariant: no step waits while all workers sleep. A thread that adds a step then looks for
    /// sleepers; a worker first counts itself as a sleeper and then looks here. One of them
    /// observes the other.
    bool any(int worker) const {
        return top_.load() != nothing || has_bound(worker) ||
               std::any_of(own_.begin(), own_.end(),
                           [](const Own& own) { return own.count.load() > 0; });
    }

    bool has_own(int worker) const {
        return own_[static_cast<std::size_t>(worker)].count.load(std::memory_order_relaxed) > 0 ||
               has_bound(worker);
    }
    bool has_bound(int worker) const {
        return own_[static_cast<std::size_t>(worker)].bound_count.load() > 0;
    }
    /// The number of waiting steps of priority 0.
    std::uint64_t waiting() const {
        std::int64_t all = 0;
        for (const Own& own : own_) all += own.count.load(std::memory_order_relaxed);
        return static_cast<std::uint64_t>(all);
    }

  private:
    // The ring of one worker. An idle worker reads `count`, which changes after the lock is free
    // again.
    struct Own {
        alignas(64) SpinLock guard;
        Ring ring;
        alignas(64) std::atomic<std::int64_t> count{0};
        Ring bound;  // steps that only this worker takes
        std::atomic<std::int64_t> bound_count{0};
    };
    Step* take_own(std::size_t worker) {
        Own& own = own_[worker];
        if (own.count.load(std::memory_order_relaxed) <= 0) return nullptr;
        Step* step = nullptr;
        {
            const std::lock_guard lock(own.guard);
            if (own.ring.empty()) return nullptr;
            step = own.ring.pop();
            if (!own.ring.empty()) own.ring.first()->expect();
        }
        own.count.fetch_sub(1, std::memory_order_relaxed);
        return step;
    }
    /// Steals several steps of a long ring at a time, so that two workers with short steps rarely
    /// collide.
    template <class Moved>
    Step* take_from(std::size_t worker, std::size_t worker_taking, Moved&& moved) {
        constexpr std::size_t most = 16;
        Own& own = own_[worker];
        if (own.count.load(std::memory_order_relaxed) <= 0) return nullptr;
        std::array<Step*, most> taken;
        std::size_t count = 0;
        {
            const std::lock_guard lock(own.guard);
            const std::size_t share = std::clamp<std::size_t>(own.ring.size() / 4, 1, most);
            while (count < share && !own.ring.empty()) taken[count++] = own.ring.pop();
        }
        if (count == 0) return nullptr;
        own.count.fetch_sub(static_cast<std::int64_t>(count), std::memory_order_relaxed);
        if (count > 1) {
            Own& mine = own_[worker_taking];
            {
                const std::lock_guard lock(mine.guard);
                for (std::size_t i = 1; i < count; ++i) mine.ring.push(taken[i]);
            }
            mine.count.fetch_add(static_cast<std::int64_t>(count) - 1);
            moved();
        }
        return taken[0];
    }
    Step* take_rest() {
        const std::lock_guard lock(guard_);
        if (rest_.empty()) return nullptr;
        Step* const step = rest_.pop();
        top_.store(rest_.empty() ? nothing : rest_.top(), std::memory_order_relaxed);
        return step;
    }

    std::vector<Own> own_;
    SpinLock guard_;
    Heap rest_;
    alignas(64) std::atomic<int> top_{nothing};  // priority of the first step of `rest_`
};

}  // namespace hocket::flow
