// SPDX-License-Identifier: BSD-3-Clause
// Steps that may run. Those of priority 0 wait with the worker that made them ready, first in,
// first out; idle workers take them from each other. All others wait in one place, by priority.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "base/port.hpp"
#include "flow/step.hpp"

namespace hocket::flow {

/// For a few instructions at a time.
class SpinLock {
  public:
    void lock() {
        for (int tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries) {
            while (taken_.load(std::memory_order_relaxed)) {
                if (++tries > 100)
                    port::yield();
                else
                    port::pause();
            }
        }
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> taken_{false};
};

/// A ring of steps, as long as it must be.
class Ring {
  public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
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

/// The highest priority first; of equals, the one inserted first.
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
            const std::lock_guard lock(own.guard);
            own.ring.push(step);
            own.size.store(own.ring.size(), std::memory_order_relaxed);
        } else {
            const std::lock_guard lock(guard_);
            rest_.push(step);
            top_.store(rest_.top(), std::memory_order_relaxed);
        }
        count_.fetch_add(1);
    }

    /// nullptr: there is none.
    Step* take(int worker) {
        if (count_.load() <= 0) return nullptr;
        Step* step = top_.load(std::memory_order_relaxed) > 0 ? take_rest() : nullptr;
        for (std::size_t i = 0; step == nullptr && i < own_.size(); ++i)
            step = take_own((static_cast<std::size_t>(worker) + i) % own_.size());
        if (step == nullptr && top_.load(std::memory_order_relaxed) != nothing) step = take_rest();
        if (step != nullptr) count_.fetch_sub(1);
        return step;
    }

    /// The first one that a step may be taken for, whoever made it ready.
    template <class Test>
    Step* take_if(Test&& test) {
        Step* found = nullptr;
        for (Own& own : own_) {
            const std::lock_guard lock(own.guard);
            found = own.ring.take_if(test);
            own.size.store(own.ring.size(), std::memory_order_relaxed);
            if (found != nullptr) break;
        }
        if (found == nullptr) {
            const std::lock_guard lock(guard_);
            found = rest_.take_if(test);
            top_.store(rest_.empty() ? nothing : rest_.top(), std::memory_order_relaxed);
        }
        if (found != nullptr) count_.fetch_sub(1);
        return found;
    }

    /// Whether something may wait that should run before a step of that priority.
    bool has_above(int priority) const {
        return top_.load(std::memory_order_relaxed) > priority || (priority < 0 && count() > 0);
    }
    std::int64_t count() const { return count_.load(); }

  private:
    struct alignas(64) Own {
        SpinLock guard;
        Ring ring;
        std::atomic<std::size_t> size{0};
    };
    Step* take_own(std::size_t worker) {
        Own& own = own_[worker];
        if (own.size.load(std::memory_order_relaxed) == 0) return nullptr;
        const std::lock_guard lock(own.guard);
        if (own.ring.empty()) return nullptr;
        Step* const step = own.ring.pop();
        own.size.store(own.ring.size(), std::memory_order_relaxed);
        return step;
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
    alignas(64) std::atomic<int> top_{nothing};  // priority of the first of `rest_`
    alignas(64) std::atomic<std::int64_t> count_{0};
};

}  // namespace hocket::flow
