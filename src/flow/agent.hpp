// SPDX-License-Identifier: BSD-3-Clause
// The communication agent. It starts the operations of ready communication steps, the highest
// priority first, and polls all of them. The agent is an operation of the engine, so every wait of
// the process makes it progress. Only one thread at a time drives the engine, so only one thread at
// a time calls MPI.
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

    /// Adds a step whose operations may start, or one that waits in its middle.
    void put(Step& step);
    /// Whether there are operations to start or poll.
    bool busy() const { return busy_.load() > 0; }
    /// The number of steps added and ended so far; when it changes, a wait starts to spin again.
    std::int64_t moves() const { return moves_.load(std::memory_order_relaxed); }
    /// Before the first communication step: adds the agent to the engine.
    void join_engine(const std::shared_ptr<CommAgent>& self);
    /// The flow ends: operations under way go on, and keep their memory.
    void detach();

    bool poll() override;
    std::string text() const override;

  private:
    void start(Step& step);
    void leave_operations(Step& step);
    bool done(Step& step);
    /// In the step: its function, and the parts of it between two waits.
    template <class Function>
    auto within(Step& step, Function&& function);
    void end(Step& step);

    State* state_;
    std::mutex guard_;
    Heap ready_;                 // guarded
    std::vector<Step*> active_;  // used by the engine's driver only, as all members below
    /// Operations that a cancelled flow has left, and the owner of their memory.
    struct Orphan {
        Body body;
        Operations operations;
    };
    std::vector<Orphan> orphans_;
    std::atomic<std::int64_t> busy_{0}, moves_{0};
    bool joined_ = false;
};

}  // namespace hocket::flow
