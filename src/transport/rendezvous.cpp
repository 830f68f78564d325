// SPDX-License-Identifier: BSD-3-Clause
#include "transport/rendezvous.hpp"

#include <cstring>
#include <type_traits>

#include "hocket/error.hpp"

namespace hocket::transport {
namespace {

using Purpose = comm::Link::Purpose;

struct Heading {
    std::int64_t call;
    std::int64_t withheld = 0;  // 1: the text is the reason
};
static_assert(std::is_trivially_copyable_v<Heading> && std::is_trivially_copyable_v<ChannelOffer>);

std::string text_of(const Heading& heading, std::size_t bytes) {
    std::string text(sizeof heading + bytes, '\0');
    std::memcpy(text.data(), &heading, sizeof heading);
    return text;
}

std::uint64_t send(const Route& route, const Message& message, Purpose about,
                   const std::string& text) {
    return route.link->send_in_node(route.rank_of(message), about, route.tag_of(message), text);
}

std::optional<std::string> receive(const Route& route, const Message& message, Purpose about) {
    const int from = route.rank_of(message), tag = route.tag_of(message);
    while (auto text = route.link->receive_in_node(from, about, tag)) {
        Heading heading;
        std::memcpy(&heading, text->data(), sizeof heading);
        if (heading.call < route.call) continue;
        if (heading.withheld != 0)
            throw Error("the other process of a transfer within the node gave it up: " +
                        text->substr(sizeof heading));
        return text;
    }
    return std::nullopt;
}

}  // namespace

ChannelOffer channel_in(const std::string& offered) {
    ChannelOffer offer;
    std::memcpy(&offer, offered.data() + sizeof(Heading), sizeof offer);
    return offer;
}

const std::byte* elements_in(const std::string& offered) {
    return reinterpret_cast<const std::byte*>(offered.data() + sizeof(Heading));
}

std::uint64_t send_channel(const Route& route, const Message& message, const ChannelOffer& offer) {
    std::string text = text_of({route.call}, sizeof offer);
    std::memcpy(text.data() + sizeof(Heading), &offer, sizeof offer);
    return send(route, message, Purpose::data, text);
}

std::uint64_t send_eager(const Route& route, const Message& message, const std::byte* memory) {
    const Chunks& pieces = message.cut(Chunks::Kind::packing, piece_bytes);
    std::string text = text_of({route.call}, static_cast<std::size_t>(pieces.bytes()));
    pieces.run(0, memory, reinterpret_cast<std::byte*>(text.data() + sizeof(Heading)));
    return send(route, message, Purpose::data, text);
}

void send_failure(const Route& route, const Message& message, const std::string& why) {
    send(route, message, Purpose::data, text_of({route.call, 1}, 0) + why);
}

std::optional<std::string> receive_rendezvous(const Route& route, const Message& message) {
    return receive(route, message, Purpose::data);
}

void send_refusal(const Route& route, const Message& message, const std::string& why) {
    send(route, message, Purpose::refusal, text_of({route.call, 1}, 0) + why);
}

void check_refusal(const Route& route, const Message& message) {
    static_cast<void>(receive(route, message, Purpose::refusal));
}

}  // namespace hocket::transport
