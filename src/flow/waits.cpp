// SPDX-License-Identifier: BSD-3-Clause
// Which waits can never be over. All that is looked at holds still: under the one lock no wait of
// the list goes on, so the steps below them do not end, nor what comes after these.
#include "flow/waits.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "hocket/error.hpp"

namespace hocket::flow {
namespace {

std::mutex guard;
BlockedWait* latest = nullptr;
// Waits of steps for their own steps alone never make a circle: steps begin before their own.
int foreign_waits = 0;

}  // namespace

ThreadContext& thread_context() {
    static thread_local ThreadContext here;
    return here;
}

bool WaitTarget::over() const {
    if (users == nullptr) return scope.unfinished() <= rest;
    // Steps hold still (their memory is not used again) only while this thread inserts nothing.
    const std::lock_guard lock(scope.inserting);
    return std::none_of(users->begin(), users->end(), [](const Ref& ref) {
        return ref.step->generation == ref.generation && !ref.step->ended();
    });
}

/// The waits that are for each other, of all that are in the list.
class BlockedWait::WaitCycle {
  public:
    WaitCycle() {
        for (const BlockedWait* each = latest; each != nullptr; each = each->before_)
            if (!each->told()) waits_.push_back(each);
        // Those that wait for nothing that another one keeps from ending go on, and with them what
        // they keep.
        for (std::size_t before = 0; before != waits_.size();) {
            before = waits_.size();
            keepers_.clear();
            for (const BlockedWait* each : waits_) keep(*each);
            std::erase_if(waits_,
                          [this](const BlockedWait* each) { return hopeless(*each) == nullptr; });
        }
    }

    bool holds(const BlockedWait& wait) const {
        return std::find(waits_.begin(), waits_.end(), &wait) != waits_.end();
    }
    const std::vector<const BlockedWait*>& waits() const { return waits_; }

    std::string told(const BlockedWait& first) const {
        std::string out;
        std::vector<const BlockedWait*> seen;
        for (const BlockedWait* each = &first;
             std::find(seen.begin(), seen.end(), each) == seen.end();) {
            seen.push_back(each);
            const Step& waits = *each->here_.step;
            const Step& target = *hopeless(*each);
            each = keepers_.at(&target);
            out += (out.empty() ? "" : "; ") + waits.text() + " waits for " + target.text();
            if (each->here_.step != &target)
                out += ", which cannot end before " + each->here_.step->text();
        }
        return out +
               ": none of them can end. Insert what they wait for into one flow and say what each "
               "step reads, or wait for another flow outside of steps";
    }

  private:
    void keep(const BlockedWait& wait) {
        std::vector<const Step*> kept;
        const auto add = [&](const Step* step) {
            if (step != nullptr && keepers_.try_emplace(step, &wait).second) kept.push_back(step);
        };
        for (const ThreadContext* at = &wait.here_; at != nullptr; at = at->below) add(at->step);
        while (!kept.empty()) {
            const Step& step = *kept.back();
            kept.pop_back();
            add(step.scope->owner());
            const Edge* edge = step.successors.load(std::memory_order_acquire);
            for (; edge != nullptr && edge != Step::ended_mark(); edge = edge->next) add(edge->to);
        }
    }

    /// A step that it waits for and that one of the waits keeps from ending.
    const Step* hopeless(const BlockedWait& wait) const {
        const WaitTarget& target = wait.awaited_;
        if (target.users != nullptr) {
            for (const Ref& ref : *target.users)
                if (keepers_.contains(ref.step) && ref.step->generation == ref.generation)
                    return ref.step;
            return nullptr;
        }
        std::int64_t count = 0;
        const Step* found = nullptr;
        for (const auto& [step, keeper] : keepers_) {
            if (step->scope != &target.scope) continue;
            ++count;
            if (found == nullptr || keeper->here_.step == step) found = step;
        }
        return count > target.rest ? found : nullptr;
    }

    std::vector<const BlockedWait*> waits_;
    std::unordered_map<const Step*, const BlockedWait*> keepers_;  // of steps that cannot end
};

BlockedWait::BlockedWait(const WaitTarget& target, bool limited, bool stays)
    : awaited_(target),
      here_(thread_context()),
      listed_(here_.step != nullptr && !limited),
      stays_(stays),
      foreign_(target.scope.owner() == nullptr) {
    if (!listed_) return;
    const std::lock_guard lock(guard);
    before_ = std::exchange(latest, this);
    if (before_ != nullptr) before_->after_ = this;
    foreign_waits += foreign_ ? 1 : 0;
    if (foreign_waits == 0 || !may_be_kept()) return;
    const WaitCycle circle;
    if (!circle.holds(*this)) return;
    const auto& waits = circle.waits();
    const auto it = stays_ ? std::find_if(waits.begin(), waits.end(),
                                          [](const BlockedWait* each) { return !each->stays_; })
                           : std::find(waits.begin(), waits.end(), this);
    if (it == waits.end()) return;
    BlockedWait& chosen = const_cast<BlockedWait&>(**it);
    chosen.why_ = circle.told(chosen);
    chosen.told_.store(true, std::memory_order_release);
}

BlockedWait::~BlockedWait() {
    if (!listed_) return;
    const std::lock_guard lock(guard);
    (after_ != nullptr ? after_->before_ : latest) = before_;
    if (before_ != nullptr) before_->after_ = after_;
    foreign_waits -= foreign_ ? 1 : 0;
}

/// A quick look: what a wait keeps is in the scopes of the steps below it, and of their owners.
bool BlockedWait::may_be_kept() const {
    for (const BlockedWait* each = latest; each != nullptr; each = each->before_)
        for (const ThreadContext* at = &each->here_; at != nullptr; at = at->below)
            for (const Step* step = at->step; step != nullptr; step = step->scope->owner())
                if (step->scope == &awaited_.scope) return true;
    return false;
}

void BlockedWait::check() const {
    if (told()) throw Error(why_);
}

}  // namespace hocket::flow
