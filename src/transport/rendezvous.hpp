// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of a message within a node say by mail: where a lane lies or, of what is too
// short for one, the message itself. Each says which call it is of: what nobody looked for in an
// earlier call that had the same tag is thrown away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transport/route.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transport {

/// Up to so many bytes are mail themselves, unless there is a lane already.
inline constexpr std::int64_t eager_limit = 4096;

/// The sender tells the receiver (a rank) where its lane lies; what Link::delivered_in_node wants
/// to know.
std::uint64_t send_channel(const Route& route, int to, const ChannelOffer& offer);
/// It sends it the message: of `pieces`, which are one.
std::uint64_t send_eager(const Route& route, int to, const Chunks& pieces, const std::byte* array);
/// It tells it instead that nothing will come.
void send_failure(const Route& route, int to, const std::string& why);
/// What has come, if anything has. @throws Error where the sender withholds it.
std::optional<std::string> receive_rendezvous(const Route& route, int from);
/// Which is one of these, as the receiver knows.
ChannelOffer lane_in(const std::string& offered);
const std::byte* data_in(const std::string& offered);

/// The receiver tells the sender that it cannot take what was, or will be, offered.
void send_refusal(const Route& route, int from, const std::string& why);
/// @throws Error if the receiver has said so.
void check_refusal(const Route& route, int to);

}  // namespace hocket::transport
