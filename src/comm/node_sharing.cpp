// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_sharing.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "base/log.hpp"
#include "base/pack.hpp"
#include "comm/agree.hpp"
#include "hocket/error.hpp"
#include "shm/fd_passing.hpp"
#include "shm/mapping.hpp"

namespace hocket::comm {
namespace {

// Without memory for an inbox there is none, and no process can access it.
std::shared_ptr<Link::NodeInbox> make_node_inbox(const std::vector<int>& in_node, int rank,
                                                 int ranks) {
    auto node_inbox = std::make_shared<Link::NodeInbox>();
    node_inbox->inbox_index.resize(static_cast<std::size_t>(ranks));
    node_inbox->ranks = in_node;
    for (std::size_t index = 0; index < in_node.size(); ++index)
        node_inbox->inbox_index[static_cast<std::size_t>(in_node[index])] = index;
    try {
        node_inbox->inbox = std::make_unique<shm::Inbox>(
            in_node.size(), node_inbox->inbox_index[static_cast<std::size_t>(rank)]);
    } catch (const Error&) {
        node_inbox->inbox = nullptr;
    }
    return node_inbox;
}

// The addresses of all processes' inboxes, by rank.
Protocol<std::vector<shm::SharedAddress>> exchange_addresses(Link& link, int tag,
                                                             shm::SharedAddress mine) {
    const Group group = Group::whole(link);
    Packer out;
    out.number(link.rank()).number(mine.process).number(mine.file).number(mine.inode);
    out.number(mine.offset);
    std::string all =
        co_await reduce(group, tag, out.take(),
                        [](const std::string& low, const std::string& high) { return low + high; });
    all = co_await broadcast(group, tag, std::move(all));
    std::vector<shm::SharedAddress> addresses(static_cast<std::size_t>(link.size()));
    for (Unpacker in(all); !in.empty();) {
        shm::SharedAddress& address = addresses[static_cast<std::size_t>(in.number())];
        address.process = in.number();
        address.file = in.number();
        address.inode = in.number();
        address.offset = in.number();
    }
    co_return addresses;
}

// The nodes that any process names, as text.
Protocol<std::string> gather_nodes(Link& link, int tag, std::string mine) {
    const Group group = Group::whole(link);
    std::string all =
        co_await reduce(group, tag, std::move(mine), [](const std::string& low, std::string high) {
            std::set<std::int64_t> both;
            for (const auto& text : {low, high})
                for (Unpacker in(text); !in.empty();) both.insert(in.number());
            Packer out;
            for (const auto node : both) out.number(node);
            return out.take();
        });
    all = co_await broadcast(group, tag, std::move(all));
    co_return all;
}

void log_sharing(const Link& link, std::size_t in_node, bool shared) {
    const std::string others = std::to_string(in_node - 1) + " other process" +
                               (in_node == 2 ? "" : "es") + " of its node";
    std::string text = "process " + std::to_string(link.rank()) + " of " +
                       std::to_string(link.size()) + " of a communicator ";
    if (in_node == 1)
        text += "is alone on its node";
    else if (!shared)
        text += "cannot open the memory of " + others +
                ", as the system or HOCKET_FORBID wants it: arrays travel there as messages";
    else if (shm::fd_server_runs())
        text += "shares memory with " + others +
                ": they hand each other descriptors, as /proc/PID/fd is barred";
    else
        text += "shares memory with " + others + ": they open it by /proc/PID/fd";
    log::write(LogLevel::debug, text);
}

bool names(const std::string& nodes, int node) {
    for (Unpacker in(nodes); !in.empty();)
        if (in.number() == node) return true;
    return false;
}

}  // namespace

Protocol<NodeSharing> find_node_sharing(Link& link, int tag,
                                        std::shared_ptr<const std::vector<int>> nodes) {
    const int here = (*nodes)[static_cast<std::size_t>(link.rank())];
    std::vector<int> in_node;
    for (int rank = 0; rank < link.size(); ++rank)
        if ((*nodes)[static_cast<std::size_t>(rank)] == here) in_node.push_back(rank);
    NodeSharing sharing{nodes, make_node_inbox(in_node, link.rank(), link.size())};
    const shm::SharedAddress mine =
        sharing.node_inbox->inbox ? sharing.node_inbox->inbox->address() : shm::SharedAddress();
    const std::vector<shm::SharedAddress> addresses = co_await exchange_addresses(link, tag, mine);
    const std::size_t me = sharing.node_inbox->inbox_index[static_cast<std::size_t>(link.rank())];
    const shm::SharedAddress& next =
        addresses[static_cast<std::size_t>(in_node[(me + 1) % in_node.size()])];

    std::string failing = shm::Inbox::reachable(next) ? "" : Packer().number(here).take();
    failing = co_await gather_nodes(link, tag, std::move(failing));
    if (!failing.empty()) {
        // All processes of such a node serve descriptors before any of them requests one.
        const bool hands = names(failing, here) && mine && shm::start_fd_server();
        std::string unable = names(failing, here) && !hands ? Packer().number(here).take() : "";
        unable = co_await gather_nodes(link, tag, std::move(unable));
        const bool reached = !names(unable, here) && shm::Inbox::reachable(next);
        failing = reached ? "" : Packer().number(here).take();
        failing = co_await gather_nodes(link, tag, std::move(failing));
    }
    if (names(failing, here)) {
        sharing.node_inbox = nullptr;
    } else {
        std::vector<shm::SharedAddress> inbox_addresses;
        for (const int rank : in_node)
            inbox_addresses.push_back(addresses[static_cast<std::size_t>(rank)]);
        sharing.node_inbox->inbox->set_addresses(std::move(inbox_addresses));
    }
    if (!failing.empty()) {
        auto known = std::make_shared<std::vector<int>>(*nodes);
        for (Unpacker in(failing); !in.empty();)
            std::replace(known->begin(), known->end(), static_cast<int>(in.number()), -1);
        sharing.nodes = std::move(known);
    }
    if (log::enabled(LogLevel::debug))
        log_sharing(link, in_node.size(), sharing.node_inbox != nullptr);
    co_return sharing;
}

}  // namespace hocket::comm
