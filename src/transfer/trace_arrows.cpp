// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/trace_arrows.hpp"

#include <algorithm>
#include <functional>

#include "base/platform.hpp"
#include "base/trace.hpp"

namespace hocket::transfer {
namespace {

// Equal on both sides, and unique among arrows under way: process ids distinguish communicators of
// other processes; a link's number and its tags distinguish the calls on one communicator.
std::uint64_t id_of(const transport::Route& route, std::int64_t run, int from, int to) {
    std::string text;
    for (const std::int64_t part :
         {route.link->process_id(from), route.link->process_id(to), std::int64_t{from},
          std::int64_t{to}, std::int64_t{route.link->number()}, std::int64_t{route.data_tag},
          route.call, run})
        text += std::to_string(part) + ".";
    return std::hash<std::string>{}(text);
}

}  // namespace

void record_arrows(Side side, const Schedule& work, const transport::Route& route, std::int64_t run,
                   const std::string& name, double began) {
    const double now = platform::seconds();
    const bool leaving = side == Side::source;
    const auto& ranks = leaving ? route.source : route.destination;
    const auto found = std::find(ranks.begin(), ranks.end(), route.link->rank());
    if (found == ranks.end()) return;
    std::vector<int> peers;
    for (const std::int64_t process : leaving ? work.receivers : work.senders) {
        const int rank =
            (leaving ? route.destination : route.source)[static_cast<std::size_t>(process)];
        if (rank != *found) peers.push_back(rank);
    }
    if (peers.empty()) return;
    trace::record(name, began, platform::seconds());
    for (const int peer : peers) {
        if (leaving)
            trace::arrow_out(id_of(route, run, *found, peer), began);
        else
            trace::arrow_in(id_of(route, run, peer, *found), now);
    }
}

}  // namespace hocket::transfer
