// SPDX-License-Identifier: BSD-3-Clause
#include "transport/transport.hpp"

#include <utility>

#include "transport/net_messages.hpp"
#include "transport/node_messages.hpp"

namespace hocket::transport {
namespace {

// The numbers of the messages whose peer shares this process's memory, then those of all others.
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> divided(const Direction& side,
                                                                      const Route& route) {
    std::pair<std::vector<std::size_t>, std::vector<std::size_t>> found;
    for (std::size_t i = 0; i < side.messages.size(); ++i)
        (route.in_node(side.messages[i]) ? found.first : found.second).push_back(i);
    return found;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> transports_for(const Messages& messages, const Route& route,
                                                       std::int64_t most) {
    auto [node_sends, net_sends] = divided(messages.sends, route);
    auto [node_receives, net_receives] = divided(messages.receives, route);
    std::vector<std::unique_ptr<Transport>> made;
    if (!node_sends.empty() || !node_receives.empty())
        made.push_back(std::make_unique<NodeMessages>(messages, std::move(node_sends),
                                                      std::move(node_receives), route, most));
    if (!net_sends.empty() || !net_receives.empty())
        made.push_back(std::make_unique<NetMessages>(messages, std::move(net_sends),
                                                     std::move(net_receives), route, most));
    return made;
}

}  // namespace hocket::transport
