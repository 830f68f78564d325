// SPDX-License-Identifier: BSD-3-Clause
#include "steps.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "hocket/flow_body.hpp"
#include "hocket/operation.hpp"

namespace hocket::blocking {
namespace {

/// A call within the turn that hocket's own calls of MPI take.
class Turn final : public Operation {
  public:
    explicit Turn(const std::function<int()>& call) : call_(call) {}
    bool poll() override {
        if (!std::exchange(called_, true)) result_ = call_();
        return true;
    }
    std::string text() const override { return "a call of MPI"; }
    int result() const { return result_; }

  private:
    const std::function<int()>& call_;
    bool called_ = false;
    int result_ = MPI_SUCCESS;
};

bool is_new(const std::string& step) {
    static std::mutex guard;
    static std::set<std::string> named;
    const std::lock_guard lock(guard);
    return named.insert(step).second;
}

}  // namespace

int with_turn(const std::function<int()>& call) {
    Turn turn(call);
    hocket::poll(turn);
    return turn.result();
}

BlockedCall::BlockedCall(const char* call)
    : call_(flow::running_step() == nullptr ? nullptr : call),
      began_(call_ == nullptr ? 0 : PMPI_Wtime()) {}

BlockedCall::~BlockedCall() {
    constexpr double noticed = 1e-3;
    if (call_ == nullptr) return;
    const double seconds = PMPI_Wtime() - began_;
    if (seconds < noticed) return;
    const std::string step = flow::running_step_text();
    if (!is_new(step)) return;
    std::fprintf(
        stderr,
        "hocket: %s has blocked its worker in %s for %.3f s; insert it as a step that waits "
        "in its middle (C and Fortran: hocket_flow_blocking_task, Python: async def), or "
        "give the flow the request of a non-blocking call\n",
        step.c_str(), call_, seconds);
}

}  // namespace hocket::blocking
