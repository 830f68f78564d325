// SPDX-License-Identifier: BSD-3-Clause
// The communication agent: starts the operations of communication steps in the order in which they
// become ready, the highest priority first, and polls all of them. It is an operation of the
// engine's itself, so that every wait of the process moves it on, whatever is waited for; and as
// the engine is driven by one thread at a time, MPI is, too.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "flow/queue.hpp"
#include "flow/step.hpp"

namespace hocket::flow {

struct State;

class CommAgent final : public Operation {
  public:
    explicit CommAgent(State& state) : state_(&state) {}

    /// A step whose operations may start.
    void put(Step& step);
    /// Whether anything is to be started or polled.
    bool busy() const { return busy_.load() > 0; }
    /// Steps that were put, and that have ended, so far: more of them, and waiting begins anew.
    std::int64_t moves() const { return moves_.load(std::memory_order_relaxed); }
    /// For the first communication step: joins the engine.
    void join_engine(const std::shared_ptr<CommAgent>& self);
    /// The flow is gone: what is still under way goes on, its memory kept.
    void detach();

    bool poll() override;
    std::string text() const override;

  private:
    void start(Step& step);
    void leave_operations(Step& step);
    bool done(Step& step);

    State* state_;
    std::mutex guard_;
    Heap ready_;                 // guarded
    std::vector<Step*> active_;  // used by the engine's driver only, as all below
    /// Operations that a cancelled flow has left, and what holds their memory.
    struct Orphan {
        Body body;
        Operations operations;
    };
    std::vector<Orphan> orphans_;
    std::atomic<std::int64_t> busy_{0}, moves_{0};
    bool joined_ = false;
};

}  // namespace hocket::flow
