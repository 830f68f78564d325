// SPDX-License-Identifier: BSD-3-Clause
#include "steps.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

namespace hocket::blocking {
namespace {

bool is_new(const std::string& step) {
    static std::mutex guard;
    static std::set<std::string> named;
    const std::lock_guard lock(guard);
    return named.insert(step).second;
}

}  // namespace

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
