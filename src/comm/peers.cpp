// SPDX-License-Identifier: BSD-3-Clause
#include "comm/peers.hpp"

#include <map>

#include "base/pack.hpp"
#include "base/platform.hpp"
#include "comm/agree.hpp"
#include "comm/vendor.hpp"
#include "shm/peer_registry.hpp"

namespace hocket::comm {
namespace {

// By the node's name, and by rank.
using Nodes = std::map<std::string, std::map<std::int64_t, Peer>>;

// One process's description for the others: all that does not depend on who reads it.
void pack(Packer& out, std::int64_t rank, const Peer& peer) {
    out.number(rank).number(peer.world_rank);
    out.number(peer.identity.process).number(peer.identity.start);
    out.number(peer.identity.pid_namespace);
    out.number(peer.status_page.process).number(peer.status_page.file);
    out.number(peer.status_page.inode).number(peer.status_page.offset);
}

Nodes unpacked(const std::string& low, const std::string& high) {
    Nodes all;
    for (const auto& text : {low, high}) {
        Unpacker in(text);
        while (!in.empty()) {
            auto& on_node = all[in.text()];
            for (std::int64_t left = in.number(); left > 0; --left) {
                Peer& peer = on_node[in.number()];
                peer.world_rank = static_cast<int>(in.number());
                peer.identity.process = in.number();
                peer.identity.start = in.number();
                peer.identity.pid_namespace = in.number();
                peer.status_page.process = in.number();
                peer.status_page.file = in.number();
                peer.status_page.inode = in.number();
                peer.status_page.offset = in.number();
            }
        }
    }
    return all;
}

std::string merge(const std::string& low, const std::string& high) {
    Packer out;
    for (const auto& [node, peers] : unpacked(low, high)) {
        out.text(node).number(static_cast<std::int64_t>(peers.size()));
        for (const auto& [rank, peer] : peers) pack(out, rank, peer);
    }
    return out.take();
}

// A pretended node has its host's name, followed by a number.
std::string host_of(const std::string& node) {
    return node.substr(0, node.find(vendor::pretended_mark));
}

}  // namespace

Protocol<std::vector<Peer>> find_peers(Link& link, int tag) {
    const Group group = Group::whole(link);
    const std::string here = vendor::node_name();
    Peer own;
    own.world_rank = vendor::world_rank();
    own.identity = shm::own_identity();
    own.status_page = shm::own_status_page();
    Packer mine;
    pack(mine.text(here).number(1), link.rank(), own);
    std::string all = co_await reduce(group, tag, mine.take(), merge);
    all = co_await broadcast(group, tag, std::move(all));
    std::vector<Peer> peers(static_cast<std::size_t>(link.size()));
    int number = 0;
    for (const auto& [node, on_node] : unpacked(all, "")) {
        for (const auto& [rank, described] : on_node) {
            Peer& peer = peers[static_cast<std::size_t>(rank)] = described;
            peer.node = number;
            peer.same_host = host_of(node) == host_of(here);
        }
        ++number;
    }
    co_return peers;
}

std::string name_of(const Peer& peer, const std::string& words) {
    return "rank " + std::to_string(peer.world_rank) + (words.empty() ? "" : " (" + words + ")");
}

std::int64_t number_of(const Peer& peer) {
    return peer.same_host ? peer.identity.process
                          : shm::peer_elsewhere(peer.world_rank, peer.identity.process);
}

void watch(const std::vector<Peer>& peers) {
    if constexpr (platform::simulated) return;  // simulated processes are threads of one process
    for (const auto& peer : peers)
        if (peer.same_host) shm::add_peer(peer.identity, peer.status_page, name_of(peer, ""));
}

void describe(const Peer& peer, const std::string& words) {
    if constexpr (platform::simulated) return;
    shm::describe_peer(number_of(peer), name_of(peer, words));
}

}  // namespace hocket::comm
