// SPDX-License-Identifier: BSD-3-Clause
#include "comm/reach.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "base/pack.hpp"
#include "comm/agree.hpp"
#include "hocket/memory.hpp"
#include "node/foreign.hpp"
#include "node/sharing.hpp"

namespace hocket::comm {
namespace {

// Memory that says whether others can reach it.
struct Probe {
    static constexpr std::int64_t expected = 0x686f636b6574;
    std::shared_ptr<std::byte> memory = allocate(sizeof expected);
    Probe() { std::memcpy(memory.get(), &expected, sizeof expected); }
    static bool reached(const node::Place& place) {
        const auto there = node::map(place);
        return there != nullptr && std::memcmp(there.get(), &expected, sizeof expected) == 0;
    }
};

}  // namespace

Protocol<std::shared_ptr<const std::vector<int>>> find_sharing(
    Link& link, int tag, std::shared_ptr<const std::vector<int>> nodes) {
    static const Probe* const probe = new Probe;  // outlives every communicator
    // What cannot be read is an error here, on all, and never in the middle of a transfer.
    static_cast<void>(node::always_crosses());
    const int here = (*nodes)[static_cast<std::size_t>(link.rank())];
    std::vector<int> near;
    for (int rank = 0; rank < link.size(); ++rank)
        if ((*nodes)[static_cast<std::size_t>(rank)] == here) near.push_back(rank);
    const std::size_t me =
        static_cast<std::size_t>(std::find(near.begin(), near.end(), link.rank()) - near.begin());
    const node::Place mine = node::place_of(probe->memory.get());
    node::Place next;
    Requests requests;
    link.receive(requests, &next, sizeof next, near[(me + 1) % near.size()], tag);
    link.send(requests, &mine, sizeof mine, near[(me + near.size() - 1) % near.size()], tag);
    co_await until(requests);

    std::string failing = Probe::reached(next) ? "" : Packer().number(here).take();
    const Group group = Group::whole(link);
    failing = co_await fold(group, tag, failing, [](const std::string& low, std::string high) {
        std::set<std::int64_t> all;
        for (const auto& text : {low, high})
            for (Unpacker in(text); !in.empty();) all.insert(in.number());
        Packer out;
        for (const auto node : all) out.number(node);
        return out.take();
    });
    failing = co_await spread(group, tag, std::move(failing));
    if (failing.empty()) co_return nodes;
    auto sharing = std::make_shared<std::vector<int>>(*nodes);
    for (Unpacker in(failing); !in.empty();)
        std::replace(sharing->begin(), sharing->end(), static_cast<int>(in.number()), -1);
    std::shared_ptr<const std::vector<int>> result = std::move(sharing);
    co_return result;
}

}  // namespace hocket::comm
