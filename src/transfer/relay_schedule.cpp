// SPDX-License-Identifier: BSD-3-Clause
// The messages of strategies with relays.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "transfer/schedule.hpp"

namespace hocket::transfer {
namespace {

std::size_t number_of(const plan::Part& part, std::int64_t peer) {
    const auto at = std::lower_bound(part.peers().begin(), part.peers().end(), peer,
                                     [](const plan::Traffic& traffic, std::int64_t process) {
                                         return traffic.process < process;
                                     });
    return static_cast<std::size_t>(at - part.peers().begin());
}

// The position in the scratch memory of a parcel that is to be forwarded, and its receive.
struct HeldParcel {
    std::int64_t offset, flag_offset;
    std::size_t receive;
};

}  // namespace

void add_relay(Schedule& schedule, const Plan& plan, const LocalView& source,
               const LocalView& destination) {
    const std::int64_t itemsize = plan.options().itemsize;
    std::optional<plan::Part> out, in;
    if (source.process >= 0) out = plan.part(Side::source, source.process);
    if (destination.process >= 0) in = plan.part(Side::destination, destination.process);
    std::map<std::pair<std::int64_t, std::int64_t>, HeldParcel> held;
    // The messages of both sides to which this process belongs, in the order of rounds.
    std::vector<plan::Step> of_source, of_destination;
    std::vector<std::vector<plan::Parcel>> source_cargo, destination_cargo;
    if (out) of_source = plan.steps(Side::source, source.process);
    if (out) source_cargo = plan.cargo(Side::source, source.process);
    if (in) of_destination = plan.steps(Side::destination, destination.process);
    if (in) destination_cargo = plan.cargo(Side::destination, destination.process);
    for (std::size_t s = 0, d = 0; s < of_source.size() || d < of_destination.size();) {
        const bool as_source =
            d == of_destination.size() ||
            (s < of_source.size() && of_source[s].round <= of_destination[d].round);
        const plan::Step& step = as_source ? of_source[s] : of_destination[d];
        const auto& parcels = as_source ? source_cargo[s++] : destination_cargo[d++];
        const std::int64_t elements = step.elements * itemsize, begin = schedule.scratch;
        const std::int64_t bytes = elements + static_cast<std::int64_t>(parcels.size());
        transport::Message message = message_of(begin, bytes, step.send, step.peer, step.round);
        message.peer_in_source = step.peer_side == Side::source;
        message.within = message.peer_in_source == as_source;
        std::vector<Cargo> cargo;
        std::int64_t at = begin, flag = begin + elements;
        const auto forward = [&](std::int64_t from, std::int64_t to, std::int64_t size) {
            const Shape one{1}, whole{size};
            if (cargo.empty() || cargo.back().source >= 0) cargo.emplace_back();
            cargo.back().copies.push_back({{whole, 1, one, one}, from, to});
        };
        for (const auto& [from, to, count] : parcels) {
            const std::int64_t size = count * itemsize;
            if (step.send && from == source.process) {
                cargo.push_back(
                    {from, flag, copies_of(*out, number_of(*out, to), true, source, itemsize, at)});
            } else if (step.send) {
                const HeldParcel& came = held.at({from, to});
                forward(came.offset, at, size);
                forward(came.flag_offset, flag, 1);
                message.after = std::max(message.after, came.receive + 1);
            } else if (to == destination.process) {
                cargo.push_back(
                    {from, flag,
                     copies_of(*in, number_of(*in, from), false, destination, itemsize, at)});
            } else {
                held[{from, to}] = {at, flag, schedule.receives.size()};
            }
            at += size;
            ++flag;
        }
        schedule.scratch += transport::in_lines(bytes);
        (step.send ? schedule.sends : schedule.receives).push_back(std::move(message));
        (step.send ? schedule.outgoing : schedule.incoming).push_back(std::move(cargo));
    }
}

}  // namespace hocket::transfer
