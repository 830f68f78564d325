// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of a message within a node find each other: through mail in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transfer/near.hpp"
#include "transfer/route.hpp"

namespace hocket::transfer {

/// The sender tells the receiver (a rank) where its lane lies; what Link::mail_gone wants to know.
std::uint64_t send_offer(const Route& route, int to, const LaneOffer& offer);
/// It tells it instead that nothing will come.
void withhold_offer(const Route& route, int to, const std::string& why);
/// What has come, if anything has. @throws Error where the sender withholds it.
std::optional<LaneOffer> receive_offer(const Route& route, int from);

/// The receiver tells the sender that it cannot take what was, or will be, offered.
void refuse_offer(const Route& route, int from, const std::string& why);
/// @throws Error if the receiver has said so.
void require_not_refused(const Route& route, int to);

}  // namespace hocket::transfer
