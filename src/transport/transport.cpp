// SPDX-License-Identifier: BSD-3-Clause
#include "transport/transport.hpp"

#include <utility>

#include "transport/net_pieces.hpp"
#include "transport/node_messages.hpp"

namespace hocket::transport {
namespace {

using Numbers = std::vector<std::size_t>;

// The numbers of the messages that the link carries.
Numbers by_link(const std::vector<Message>& side, const Route& route) {
    Numbers found;
    for (std::size_t i = 0; i < side.size(); ++i)
        if (!route.in_node(side[i])) found.push_back(i);
    return found;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> transports_for(const Schedule& schedule, const Route& route,
                                                       std::int64_t most) {
    std::vector<std::unique_ptr<Transport>> made;
    if (route.early) return made;
    Numbers sends = by_link(schedule.sends, route), receives = by_link(schedule.receives, route);
    const std::size_t all = schedule.sends.size() + schedule.receives.size();
    const std::size_t net = sends.size() + receives.size();
    if (net < all) made.push_back(std::make_unique<NodeMessages>(schedule, route, most));
    if (net == 0) return made;
    auto in = std::make_unique<NetPieces>(false, schedule, std::move(receives), route, most);
    auto out = std::make_unique<NetPieces>(true, schedule, std::move(sends), route, most, in.get());
    made.push_back(std::move(in));
    made.push_back(std::move(out));
    return made;
}

}  // namespace hocket::transport
