// SPDX-License-Identifier: BSD-3-Clause
#include "comm/loss_detector.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "comm/awaited_peers.hpp"
#include "comm/engine.hpp"
#include "comm/interrupts.hpp"
#include "hocket/error.hpp"
#include "shm/peer_registry.hpp"

namespace hocket::comm {
namespace {

constexpr double between_looks = 0.1;  // between checks whether all others live
// Messages that a process sent before its end still arrive.
constexpr double after_a_loss = 0.5;

std::vector<std::vector<std::int64_t>> needs_of(Operation& operation) {
    const EngineLock engine_lock(EngineLock::waiting);
    const AwaitedPeers needs;
    if (operation.poll()) return {};
    return needs.any_of();
}

}  // namespace

LossDetector::LossDetector(double now) : next_look_(now + between_looks) {}

void LossDetector::check(double now, Operation& operation) {
    if (!lost_.empty() && now >= give_up_)
        throw PeerLostError(
            lost_ + " has ended, and what this process waits for will not be: " + operation.text() +
            "; see what that rank printed last, and start the program again");
    if (!lost_.empty() || now < next_look_) return;
    next_look_ = now + between_looks;
    lost_ = shm::lost_peer();
    if (lost_.empty()) {
        const EngineLock engine_lock(EngineLock::waiting);
        lost_ = Engine::instance().lost_processes();
    }
    give_up_ = now + after_a_loss;
    if (lost_.empty()) check_departures(now, operation);
}

// Unlike a death, a regular end concerns only processes that wait for that one.
void LossDetector::check_departures(double now, Operation& operation) {
    const std::string left = shm::left_peers([&] { return needs_of(operation); });
    if (left != left_) {
        left_ = left;
        left_since_ = now;
    } else if (!left.empty() && now - left_since_ >= after_a_loss) {
        throw PeerLostError(left + " has left (MPI_Finalize), but this process waits for it: " +
                            operation.text() + "; let both make the same calls before either ends");
    }
}

std::optional<std::string> awaited_by(Operation& operation) {
    if constexpr (platform::simulated) return "";
    const EngineLock engine_lock(EngineLock::waiting);
    const AwaitedPeers awaited;
    if (operation.poll()) return std::nullopt;
    std::vector<std::string> names = awaited.names();
    for (const auto& any : awaited.any_of()) {
        std::string name = shm::names_of_peers(any);
        if (!name.empty() && std::ranges::count(names, name) == 0) names.push_back(std::move(name));
    }
    constexpr std::size_t most = 8;
    std::string out;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
        out += (i == 0 ? " and waits for " : ", ") + names[i];
    if (names.size() > most) out += " and " + std::to_string(names.size() - most) + " more";
    return out;
}

void check_losses(Operation& operation) {
    if constexpr (platform::simulated) return;  // simulated processes are threads of one process
    const double now = coarse_seconds();
    thread_local LossDetector loss_detector(now);
    loss_detector.check(now, operation);
}

}  // namespace hocket::comm
