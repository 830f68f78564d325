// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/relay_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace hocket::transfer {
namespace {

struct Entry {
    Side side;
    plan::Step step;
    std::vector<plan::Parcel> cargo;
};

// Of both sides that this process is on, in the order of rounds: in one of them it sends once at
// most and receives once at most.
std::vector<Entry> entries_of(const Plan& plan, const LocalView& source,
                              const LocalView& destination) {
    std::vector<Entry> entries;
    const auto add = [&](Side side, std::int64_t process) {
        if (process < 0) return;
        const auto steps = plan.steps(side, process);
        auto cargo = plan.cargo(side, process);
        for (std::size_t k = 0; k < steps.size(); ++k)
            entries.push_back({side, steps[k], std::move(cargo[k])});
    };
    add(Side::source, source.process);
    add(Side::destination, destination.process);
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.step.round < b.step.round; });
    return entries;
}

std::size_t number_of(const plan::Part& part, std::int64_t peer) {
    const auto at = std::lower_bound(part.peers().begin(), part.peers().end(), peer,
                                     [](const plan::Traffic& traffic, std::int64_t process) {
                                         return traffic.process < process;
                                     });
    return static_cast<std::size_t>(at - part.peers().begin());
}

// Where a parcel that is to be passed on lies, and in which receive it came.
struct HeldArray {
    std::int64_t offset, flag_offset;
    std::size_t receive;
};

}  // namespace

RelayPlan::RelayPlan(const Plan& plan, const LocalView& source, const LocalView& destination) {
    const std::int64_t itemsize = plan.options().itemsize;
    std::optional<plan::Part> out, in;
    if (source.process >= 0) out = plan.part(Side::source, source.process);
    if (destination.process >= 0) in = plan.part(Side::destination, destination.process);
    std::map<std::pair<std::int64_t, std::int64_t>, HeldArray> held;
    for (Entry& entry : entries_of(plan, source, destination)) {
        const plan::Step& step = entry.step;
        PackedMessage message{
            step.peer, step.elements * itemsize + static_cast<std::int64_t>(entry.cargo.size()),
            buffer};
        message.peer_side = step.peer_side;
        message.within = entry.side == step.peer_side;
        std::int64_t at = buffer, flag = buffer + step.elements * itemsize;
        const auto pass_on = [&](std::int64_t place, std::int64_t to, std::int64_t bytes) {
            const Shape one{1}, whole{bytes};
            message.forwarded.push_back({{whole, 1, one, one}, place, to});
        };
        for (const auto& [from, to, elements] : entry.cargo) {
            const std::int64_t bytes = elements * itemsize;
            if (step.send && from == source.process) {
                message.parcels.push_back(
                    {from, flag, copies_of(*out, number_of(*out, to), true, source, itemsize, at)});
            } else if (step.send) {
                const HeldArray& came = held.at({from, to});
                pass_on(came.offset, at, bytes);
                pass_on(came.flag_offset, flag, 1);
                message.needs = std::max(message.needs, came.receive + 1);
            } else if (to == destination.process) {
                message.parcels.push_back(
                    {from, flag,
                     copies_of(*in, number_of(*in, from), false, destination, itemsize, at)});
            } else {
                held[{from, to}] = {at, flag, receives.size()};
            }
            at += bytes;
            ++flag;
        }
        buffer += relay_room(message.bytes);
        (step.send ? sends : receives).push_back(std::move(message));
    }
}

}  // namespace hocket::transfer
