// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/offers.hpp"

#include <cstring>
#include <type_traits>

#include "hocket/error.hpp"

namespace hocket::transfer {
namespace {

using About = comm::Link::About;

// An offer as its bytes; of one that is withheld, the reason behind it.
constexpr std::size_t size = sizeof(LaneOffer);
static_assert(std::is_trivially_copyable_v<LaneOffer>);

[[noreturn]] void give_up(const std::string& why) {
    throw Error("the other process of a transfer within the node gave it up: " + why);
}

}  // namespace

std::uint64_t send_offer(const Route& route, int to, const LaneOffer& offer) {
    return route.link->send_mail(to, About::data, route.data_tag,
                                 std::string(reinterpret_cast<const char*>(&offer), size));
}

void withhold_offer(const Route& route, int to, const std::string& why) {
    route.link->send_mail(to, About::data, route.data_tag, std::string(size, '\0') + why);
}

std::optional<LaneOffer> receive_offer(const Route& route, int from) {
    const auto text = route.link->receive_mail(from, About::data, route.data_tag);
    if (!text) return std::nullopt;
    if (text->size() > size) give_up(text->substr(size));
    LaneOffer offer;
    std::memcpy(&offer, text->data(), size);
    return offer;
}

void refuse_offer(const Route& route, int from, const std::string& why) {
    route.link->send_mail(from, About::refusal, route.data_tag, why);
}

void require_not_refused(const Route& route, int to) {
    if (const auto why = route.link->receive_mail(to, About::refusal, route.data_tag))
        give_up(*why);
}

}  // namespace hocket::transfer
