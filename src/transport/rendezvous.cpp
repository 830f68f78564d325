// SPDX-License-Identifier: BSD-3-Clause
#include "transport/rendezvous.hpp"

#include <cstring>
#include <type_traits>

#include "hocket/error.hpp"

namespace hocket::transport {
namespace {

using Purpose = comm::Link::Purpose;

// A text begins with the number of its call; with ~number, if the reason for no elements follows.
constexpr std::size_t heading_bytes = sizeof(std::int64_t);
static_assert(std::is_trivially_copyable_v<shm::SharedAddress>);

std::string text_of(std::int64_t heading, std::size_t bytes) {
    std::string text(heading_bytes + bytes, '\0');
    std::memcpy(text.data(), &heading, heading_bytes);
    return text;
}

std::uint64_t send(const Route& route, const Message& message, Purpose purpose,
                   const std::string& text) {
    return route.link->send_in_node(route.rank_of(message), purpose, route.tag_of(message), text);
}

std::optional<std::string> receive(const Route& route, const Message& message, Purpose purpose) {
    const int from = route.rank_of(message), tag = route.tag_of(message);
    while (auto text = route.link->receive_in_node(from, purpose, tag)) {
        std::int64_t call = 0;
        std::memcpy(&call, text->data(), heading_bytes);
        const bool withheld = call < 0;
        if ((withheld ? ~call : call) < route.call) continue;
        if (withheld)
            throw Error("the other process of a transfer within the node gave it up: " +
                        text->substr(heading_bytes));
        return text;
    }
    return std::nullopt;
}

}  // namespace

shm::SharedAddress channel_in(const std::string& offered) {
    shm::SharedAddress channel;
    std::memcpy(&channel, offered.data() + heading_bytes, sizeof channel);
    return channel;
}

const std::byte* elements_in(const std::string& offered) {
    return reinterpret_cast<const std::byte*>(offered.data() + heading_bytes);
}

std::uint64_t send_channel(const Route& route, const Message& message,
                           const shm::SharedAddress& channel) {
    std::string text = text_of(route.call, sizeof channel);
    std::memcpy(text.data() + heading_bytes, &channel, sizeof channel);
    return send(route, message, Purpose::data, text);
}

std::uint64_t send_eager(const Route& route, const Message& message, const std::byte* memory) {
    const Chunks& pieces = message.cut(Chunks::Kind::packing, piece_bytes);
    std::string text = text_of(route.call, static_cast<std::size_t>(pieces.bytes()));
    pieces.run(0, memory, reinterpret_cast<std::byte*>(text.data() + heading_bytes));
    return send(route, message, Purpose::data, text);
}

void send_failure(const Route& route, const Message& message, const std::string& why) {
    send(route, message, Purpose::data, text_of(~route.call, 0) + why);
}

std::optional<std::string> receive_rendezvous(const Route& route, const Message& message) {
    return receive(route, message, Purpose::data);
}

void send_refusal(const Route& route, const Message& message, const std::string& why) {
    send(route, message, Purpose::refusal, text_of(~route.call, 0) + why);
}

void check_refusal(const Route& route, const Message& message) {
    static_cast<void>(receive(route, message, Purpose::refusal));
}

}  // namespace hocket::transport
