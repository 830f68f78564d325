// SPDX-License-Identifier: BSD-3-Clause
#include "comm/losses.hpp"

#include <cstdint>
#include <vector>

#include "base/port.hpp"
#include "comm/engine.hpp"
#include "comm/needs.hpp"
#include "comm/outside.hpp"
#include "hocket/error.hpp"
#include "shm/watched.hpp"

namespace hocket::comm {
namespace {

constexpr double between_looks = 0.1;  // at whether all others live
// What a process sent before its end still arrives.
constexpr double after_a_loss = 0.5;

std::vector<std::vector<std::int64_t>> needs_of(Operation& operation) {
    const Turn turn(Turn::waiting);
    const Needs needs;
    if (operation.poll()) return {};
    return needs.any_of();
}

}  // namespace

Losses::Losses(double now) : next_look_(now + between_looks) {}

void Losses::look(double now, Operation& operation) {
    if (!lost_.empty() && now >= give_up_)
        throw PeerLostError(
            lost_ + " has ended, and what this process waits for will not be: " + operation.text() +
            "; see what that rank printed last, and start the program again");
    if (!lost_.empty() || now < next_look_) return;
    next_look_ = now + between_looks;
    lost_ = shm::Watched::instance().lost();
    give_up_ = now + after_a_loss;
    if (lost_.empty()) look_for_leavers(now, operation);
}

// Unlike a death, an end in good order concerns only those who wait for that process.
void Losses::look_for_leavers(double now, Operation& operation) {
    const std::string left = shm::Watched::instance().left_of([&] { return needs_of(operation); });
    if (left != left_) {
        left_ = left;
        left_since_ = now;
    } else if (!left.empty() && now - left_since_ >= after_a_loss) {
        throw PeerLostError(left + " has left (MPI_Finalize), but this process waits for it: " +
                            operation.text() + "; let both make the same calls before either ends");
    }
}

void heed_losses(Operation& operation) {
    if constexpr (port::simulated) return;  // simulated processes are one
    const double now = coarse_seconds();
    thread_local Losses losses(now);
    losses.look(now, operation);
}

}  // namespace hocket::comm
