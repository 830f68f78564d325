// SPDX-License-Identifier: BSD-3-Clause
// Texts between the two ends of a message within the node: the address of a channel, or a message
// that is too short for one. Each text names its call, because a text of an earlier call with the
// same tag that nobody received is to be dropped. The texts of several messages with one tag from
// one process arrive in the order of the sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transport/route.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transport {

/// Messages of up to so many bytes travel as texts, unless they have a persistent channel.
inline constexpr std::int64_t eager_limit = 4096;

/// The sender sends the address of its channel. Returns the number for Link::delivered_in_node.
std::uint64_t send_channel(const Route& route, const Message& message,
                           const shm::SharedAddress& channel);
/// Sends the elements themselves, from its memory.
std::uint64_t send_eager(const Route& route, const Message& message, const std::byte* memory);
/// Sends the reason why no elements come.
void send_failure(const Route& route, const Message& message, const std::string& why);
/// The next text for the receiver, if one has come. @throws Error if the sender gave up.
std::optional<std::string> receive_rendezvous(const Route& route, const Message& message);
/// The receiver distinguishes these by the size.
shm::SharedAddress channel_in(const std::string& offered);
const std::byte* elements_in(const std::string& offered);

/// The receiver sends the sender the reason why it does not receive the message.
void send_refusal(const Route& route, const Message& message, const std::string& why);
/// For the sender. @throws Error if the receiver has done so.
void check_refusal(const Route& route, const Message& message);

}  // namespace hocket::transport
