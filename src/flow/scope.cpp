// SPDX-License-Identifier: BSD-3-Clause
#include "flow/scope.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hocket::flow {
namespace {

constexpr std::size_t first_slab = 8, largest_slab = 128;  // a scope with few steps needs little
                                                           // memory

std::string words_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& known) {
        return known.what();
    } catch (...) {
        return "an exception that is no std::exception";
    }
}

}  // namespace

// Nests the step's exception, so that std::rethrow_if_nested throws it.
void Failure::raise() const {
    try {
        std::rethrow_exception(error);
    } catch (const StepError& inner) {  // from a nested step
        throw StepError("step '" + step + "': " + inner.where(), inner.words(), step,
                        inner.cause());
    } catch (...) {
        throw StepError("step '" + step + "'", words_of(error), step, error);
    }
}

std::exception_ptr Failure::nested() const {
    try {
        raise();
    } catch (...) {
        return std::current_exception();
    }
}

Step& Scope::make() {
    if (free_ == nullptr) free_ = retired_.exchange(nullptr, std::memory_order_acquire);
    if (free_ == nullptr) {
        const std::size_t size =
            std::min(first_slab << std::min<std::size_t>(slabs_.size(), 8), largest_slab);
        slabs_.push_back(std::make_unique<Step[]>(size));
        for (std::size_t i = size; i-- > 0;) {
            slabs_.back()[i].next = free_;
            free_ = &slabs_.back()[i];
        }
    }
    Step& step = *free_;
    free_ = step.next;
    if (free_ != nullptr) free_->expect();
    ++step.generation;
    step.successors.store(nullptr, std::memory_order_relaxed);
    step.waits.store(1, std::memory_order_relaxed);
    step.stopped.store(false, std::memory_order_relaxed);
    step.failed = false;
    step.edges_used = 0;
    step.scope = this;
    return step;
}

std::vector<Ref> Scope::users_of(const Region& region) {
    std::vector<Ref> found;
    const std::lock_guard lock(inserting);
    records_.users_of(region, [&](Access::Kind, const std::vector<Ref>& users) {
        std::copy_if(users.begin(), users.end(), std::back_inserter(found), matters);
    });
    return found;
}

bool Scope::changed_before(const Step& step, const Region& region) {
    bool found = false;
    const std::lock_guard lock(inserting);
    records_.users_of(region, [&](Access::Kind kind, const std::vector<Ref>& users) {
        if (kind == Access::Kind::read) return;
        const auto is_step = [&](const Ref& ref) {
            return ref.step == &step && ref.generation == step.generation;
        };
        if (std::any_of(users.begin(), users.end(), is_step)) return;
        found = found || std::any_of(users.begin(), users.end(), [&](const Ref& ref) {
                    return matters(ref) && ref.step->number < step.number && !ref.step->ended();
                });
    });
    return found;
}

bool Scope::leave(Step& step) {
    if (step.failed) {
        const std::lock_guard lock(failing_);
        failed_steps_.push_back(&step);
    } else if (!remembers_) {
        Step* head = retired_.load(std::memory_order_relaxed);
        do {
            step.next = head;
        } while (!retired_.compare_exchange_weak(head, &step, std::memory_order_release,
                                                 std::memory_order_relaxed));
    }
    return ended_.fetch_add(1) + 1 == all_left;
}

void Scope::fail(const Step& step, std::exception_ptr error) {
    const std::lock_guard lock(failing_);
    failed_ = true;
    if (step.number >= first_failure_.number) return;
    first_failure_ = {step.number, step.name.empty() ? std::to_string(step.number) : step.name,
                      std::move(error)};
}

Failure Scope::failure() {
    const std::lock_guard lock(failing_);
    return first_failure_;
}

Failure Scope::take_failure() {
    const std::lock_guard lock(inserting);
    const std::lock_guard also(failing_);
    for (Step* step : failed_steps_) {
        step->next = free_;
        ++step->generation;  // no step waits for it any more
        step->failed = false;
        free_ = step;
    }
    failed_steps_.clear();
    failed_ = false;
    return std::exchange(first_failure_, Failure{});
}

}  // namespace hocket::flow
