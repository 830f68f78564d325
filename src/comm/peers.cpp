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

// One process's description for the others.
struct PeerDescription {
    std::int64_t rank, world_rank;
    shm::ProcessIdentity identity;
    shm::SharedAddress status_page;

    void pack(Packer& out) const {
        out.number(rank).number(world_rank);
        out.number(identity.process).number(identity.start).number(identity.pid_namespace);
        out.number(status_page.process).number(status_page.file).number(status_page.inode);
        out.number(status_page.offset);
    }
    static PeerDescription unpack(Unpacker& in) {
        PeerDescription entry{};
        entry.rank = in.number();
        entry.world_rank = in.number();
        entry.identity.process = in.number();
        entry.identity.start = in.number();
        entry.identity.pid_namespace = in.number();
        entry.status_page.process = in.number();
        entry.status_page.file = in.number();
        entry.status_page.inode = in.number();
        entry.status_page.offset = in.number();
        return entry;
    }
};

// All descriptions, by the node's name.
std::map<std::string, std::vector<PeerDescription>> unpacked(const std::string& low,
                                                             const std::string& high) {
    std::map<std::string, std::vector<PeerDescription>> all;
    for (const auto& text : {low, high}) {
        Unpacker in(text);
        while (!in.empty()) {
            auto& on_node = all[in.text()];
            for (std::int64_t left = in.number(); left > 0; --left)
                on_node.push_back(PeerDescription::unpack(in));
        }
    }
    return all;
}

std::string merge(const std::string& low, const std::string& high) {
    Packer out;
    for (const auto& [node, entries] : unpacked(low, high)) {
        out.text(node).number(static_cast<std::int64_t>(entries.size()));
        for (const auto& entry : entries) entry.pack(out);
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
    const PeerDescription own{link.rank(), vendor::world_rank(), shm::own_identity(),
                              shm::own_status_page()};
    Packer mine;
    mine.text(here).number(1);
    own.pack(mine);
    std::string all = co_await reduce(group, tag, mine.take(), merge);
    all = co_await broadcast(group, tag, std::move(all));
    std::vector<Peer> peers(static_cast<std::size_t>(link.size()));
    int number = 0;
    for (const auto& [node, entries] : unpacked(all, "")) {
        for (const auto& entry : entries) {
            Peer& peer = peers[static_cast<std::size_t>(entry.rank)];
            peer.node = number;
            peer.world_rank = static_cast<int>(entry.world_rank);
            peer.same_host = host_of(node) == host_of(here);
            peer.identity = entry.identity;
            peer.status_page = entry.status_page;
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
