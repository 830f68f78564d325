// SPDX-License-Identifier: BSD-3-Clause
// Finds waits that can never end. Invariant: the graph does not change during the search, because
// no listed wait continues while `guard` is held, so the steps below the waits and their successors
// do not end.
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
// Waits of steps for their own nested steps cannot form a cycle, because outer steps begin first.
int foreign_waits = 0;

}  // namespace

ThreadContext& thread_context() {
    static thread_local ThreadContext here;
    return here;
}

bool WaitTarget::over() const {
    if (users == nullptr) return scope.unfinished() <= rest;
    // Steps keep their memory only while this thread inserts none.
    const std::lock_guard lock(scope.inserting);
    return std::none_of(users->begin(), users->end(), [](const Ref& ref) {
        return ref.step->generation == ref.generation && !ref.step->ended();
    });
}

/// The listed waits that form cycles.
class BlockedWait::WaitCycle {
  public:
    WaitCycle() {
        for (const BlockedWait* each = latest; each != nullptr; each = each->before_)
            if (!each->failed()) waits_.push_back(each);
        // Removes, repeatedly, the waits that no other wait blocks; these can end.
        std::size_t before = 0;
        do {
            before = waits_.size();
            blockers_.clear();
            for (const BlockedWait* each : waits_) block(*each);
            std::erase_if(waits_, [this](const BlockedWait* each) {
                return blocked_target(*each) == nullptr;
            });
        } while (before != waits_.size());
    }

    bool holds(const BlockedWait& wait) const {
        return std::find(waits_.begin(), waits_.end(), &wait) != waits_.end();
    }
    const std::vector<const BlockedWait*>& waits() const { return waits_; }

    std::string report(const BlockedWait& first) const {
        std::string out;
        std::vector<const BlockedWait*> seen;
        for (const BlockedWait* each = &first;
             std::find(seen.begin(), seen.end(), each) == seen.end();) {
            seen.push_back(each);
            const Step& waits = *each->here_.step;
            const Step& target = *blocked_target(*each);
            each = blockers_.at(&target);
            out += (out.empty() ? "" : "; ") + waits.text() + " waits for " + target.text();
            if (each->here_.step != &target)
                out += ", which cannot end before " + each->here_.step->text();
        }
        return out +
               ": none of them can end. Insert what they wait for into one flow and say what each "
               "step reads, or wait for another flow outside of steps";
    }

  private:
    void block(const BlockedWait& wait) {
        std::vector<const Step*> blocked;
        const auto add = [&](const Step* step) {
            if (step != nullptr && blockers_.try_emplace(step, &wait).second)
                blocked.push_back(step);
        };
        for (const ThreadContext* at = &wait.here_; at != nullptr; at = at->below) add(at->step);
        while (!blocked.empty()) {
            const Step& step = *blocked.back();
            blocked.pop_back();
            add(step.scope->owner());
            const Edge* edge = step.successors.load(std::memory_order_acquire);
            for (; edge != nullptr && edge != Step::ended_mark(); edge = edge->next) add(edge->to);
        }
    }

    /// An awaited step that one of the waits blocks.
    const Step* blocked_target(const BlockedWait& wait) const {
        const WaitTarget& target = wait.awaited_;
        if (target.users != nullptr) {
            for (const Ref& ref : *target.users)
                if (blockers_.contains(ref.step) && ref.step->generation == ref.generation)
                    return ref.step;
            return nullptr;
        }
        std::int64_t count = 0;
        const Step* found = nullptr;
        for (const auto& [step, blocker] : blockers_) {
            if (step->scope != &target.scope) continue;
            ++count;
            if (found == nullptr || blocker->here_.step == step) found = step;
        }
        return count > target.rest ? found : nullptr;
    }

    std::vector<const BlockedWait*> waits_;
    // blocked steps, and a wait that blocks each
    std::unordered_map<const Step*, const BlockedWait*> blockers_;
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
    if (foreign_waits == 0 || !may_be_blocked()) return;
    const WaitCycle cycle;
    if (!cycle.holds(*this)) return;
    const auto& waits = cycle.waits();
    const auto it = stays_ ? std::find_if(waits.begin(), waits.end(),
                                          [](const BlockedWait* each) { return !each->stays_; })
                           : std::find(waits.begin(), waits.end(), this);
    if (it == waits.end()) return;
    BlockedWait& chosen = const_cast<BlockedWait&>(**it);
    chosen.why_ = cycle.report(chosen);
    chosen.failed_.store(true, std::memory_order_release);
}

BlockedWait::~BlockedWait() {
    if (!listed_) return;
    const std::lock_guard lock(guard);
    (after_ != nullptr ? after_->before_ : latest) = before_;
    if (before_ != nullptr) before_->after_ = after_;
    foreign_waits -= foreign_ ? 1 : 0;
}

/// A cheap necessary condition: the steps that a wait blocks are in the scopes of the steps below
/// it, or of their owners.
bool BlockedWait::may_be_blocked() const {
    for (const BlockedWait* each = latest; each != nullptr; each = each->before_)
        for (const ThreadContext* at = &each->here_; at != nullptr; at = at->below)
            for (const Step* step = at->step; step != nullptr; step = step->scope->owner())
                if (step->scope == &awaited_.scope) return true;
    return false;
}

void BlockedWait::check() const {
    if (failed()) throw Error(why_);
}

}  // namespace hocket::flow
