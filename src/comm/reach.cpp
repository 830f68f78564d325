// SPDX-License-Identifier: BSD-3-Clause
#include "comm/reach.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "base/log.hpp"
#include "base/pack.hpp"
#include "comm/agree.hpp"
#include "hocket/error.hpp"
#include "shm/handing.hpp"
#include "shm/sharing.hpp"

namespace hocket::comm {
namespace {

// Without a room, if there is no memory for one: then nobody reaches it.
std::shared_ptr<Link::Office> make_office(const std::vector<int>& near, int rank, int ranks) {
    auto office = std::make_shared<Link::Office>();
    office->seats.resize(static_cast<std::size_t>(ranks));
    office->ranks = near;
    for (std::size_t seat = 0; seat < near.size(); ++seat)
        office->seats[static_cast<std::size_t>(near[seat])] = seat;
    try {
        office->room = std::make_unique<shm::Mailroom>(
            near.size(), office->seats[static_cast<std::size_t>(rank)]);
    } catch (const Error&) {
        office->room = nullptr;
    }
    return office;
}

// Where everyone's room is, by rank.
Protocol<std::vector<shm::Place>> exchange_places(Link& link, int tag, shm::Place mine) {
    const Group group = Group::whole(link);
    Packer out;
    out.number(link.rank()).number(mine.process).number(mine.file).number(mine.inode);
    out.number(mine.offset);
    std::string all =
        co_await fold(group, tag, out.take(),
                      [](const std::string& low, const std::string& high) { return low + high; });
    all = co_await spread(group, tag, std::move(all));
    std::vector<shm::Place> places(static_cast<std::size_t>(link.size()));
    for (Unpacker in(all); !in.empty();) {
        shm::Place& place = places[static_cast<std::size_t>(in.number())];
        place.process = in.number();
        place.file = in.number();
        place.inode = in.number();
        place.offset = in.number();
    }
    co_return places;
}

// The nodes that anybody names, in words.
Protocol<std::string> gather_nodes(Link& link, int tag, std::string mine) {
    const Group group = Group::whole(link);
    std::string all =
        co_await fold(group, tag, std::move(mine), [](const std::string& low, std::string high) {
            std::set<std::int64_t> both;
            for (const auto& text : {low, high})
                for (Unpacker in(text); !in.empty();) both.insert(in.number());
            Packer out;
            for (const auto node : both) out.number(node);
            return out.take();
        });
    all = co_await spread(group, tag, std::move(all));
    co_return all;
}

void tell(const Link& link, std::size_t near, bool shared) {
    const std::string others =
        std::to_string(near - 1) + " other process" + (near == 2 ? "" : "es") + " of its node";
    std::string text = "process " + std::to_string(link.rank()) + " of " +
                       std::to_string(link.size()) + " of a communicator ";
    if (near == 1)
        text += "is alone on its node";
    else if (!shared)
        text += "cannot open the memory of " + others +
                ", as the system or HOCKET_FORBID wants it: arrays travel there as messages";
    else if (shm::hands_out())
        text += "shares memory with " + others +
                ": they hand each other descriptors, as /proc/PID/fd is barred";
    else
        text += "shares memory with " + others + ": they open it by /proc/PID/fd";
    log::tell(LogLevel::debug, text);
}

bool names(const std::string& nodes, int node) {
    for (Unpacker in(nodes); !in.empty();)
        if (in.number() == node) return true;
    return false;
}

}  // namespace

Protocol<Sharing> find_sharing(Link& link, int tag, std::shared_ptr<const std::vector<int>> nodes) {
    const int here = (*nodes)[static_cast<std::size_t>(link.rank())];
    std::vector<int> near;
    for (int rank = 0; rank < link.size(); ++rank)
        if ((*nodes)[static_cast<std::size_t>(rank)] == here) near.push_back(rank);
    Sharing sharing{nodes, make_office(near, link.rank(), link.size())};
    const shm::Place mine = sharing.office->room ? sharing.office->room->place() : shm::Place();
    const std::vector<shm::Place> places = co_await exchange_places(link, tag, mine);
    const std::size_t me = sharing.office->seats[static_cast<std::size_t>(link.rank())];
    const shm::Place& next = places[static_cast<std::size_t>(near[(me + 1) % near.size()])];

    std::string failing = shm::Mailroom::reached(next) ? "" : Packer().number(here).take();
    failing = co_await gather_nodes(link, tag, std::move(failing));
    if (!failing.empty()) {
        // All of such a node hand out before any of it asks.
        const bool hands = names(failing, here) && mine && shm::hand_out();
        std::string unable = names(failing, here) && !hands ? Packer().number(here).take() : "";
        unable = co_await gather_nodes(link, tag, std::move(unable));
        const bool reached = !names(unable, here) && shm::Mailroom::reached(next);
        failing = reached ? "" : Packer().number(here).take();
        failing = co_await gather_nodes(link, tag, std::move(failing));
    }
    if (names(failing, here)) {
        sharing.office = nullptr;
    } else {
        std::vector<shm::Place> rooms;
        for (const int rank : near) rooms.push_back(places[static_cast<std::size_t>(rank)]);
        sharing.office->room->know(std::move(rooms));
    }
    if (!failing.empty()) {
        auto known = std::make_shared<std::vector<int>>(*nodes);
        for (Unpacker in(failing); !in.empty();)
            std::replace(known->begin(), known->end(), static_cast<int>(in.number()), -1);
        sharing.nodes = std::move(known);
    }
    if (log::wanted(LogLevel::debug)) tell(link, near.size(), sharing.office != nullptr);
    co_return sharing;
}

}  // namespace hocket::comm
