// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/schedule.hpp"

#include <algorithm>

namespace hocket::transfer {
namespace {

using transport::Message;

// Each process starts with another peer, so that they do not all send to the same one at once. Both
// sides give a message the same turn, and no process has two messages of one turn.
std::int64_t turn_of(const Plan& plan, std::int64_t from, std::int64_t to) {
    const std::int64_t players = std::max(plan.source().size(), plan.destination().size());
    return (to - from - 1 + players) % players;
}

// `peers`: processes of the other side; returns all but this process.
std::vector<std::int64_t> others(const std::vector<plan::Traffic>& peers, std::int64_t self) {
    std::vector<std::int64_t> found;
    for (const plan::Traffic& each : peers)
        if (each.process != self) found.push_back(each.process);
    return found;
}

void add_messages(std::vector<Message>& side, const Plan& plan, const plan::Part& part,
                  bool sending, const LocalView& here, std::int64_t self, std::int64_t local) {
    const std::int64_t itemsize = plan.options().itemsize;
    const auto cutter = std::make_shared<const Message::Cutter>([plan, part, sending,
                                                                 strides = here.strides](
                                                                    const Message& message,
                                                                    Chunks::Kind kind,
                                                                    std::int64_t part_bytes) {
        MessageBoxes boxes{part.boxes(message.number), plan.options().itemsize, strides, strides};
        if (part_bytes > 0) return cut(boxes, kind, part_bytes);
        // The other end's array is dense, or that end does not publish its address.
        const Layout& other = sending ? plan.destination() : plan.source();
        (sending ? boxes.destination : boxes.source) =
            dense_strides(other.local_shape(message.peer), boxes.itemsize);
        return cut(boxes, kind, bytes_of_part(boxes));
    });
    const auto& peers = part.peers();
    for (std::size_t k = 0; k < peers.size(); ++k) {
        const std::int64_t other = peers[k].process;
        if (other == self) continue;
        side.emplace_back(
            other, k,
            sending ? turn_of(plan, here.process, other) : turn_of(plan, other, here.process),
            peers[k].elements * itemsize, here.dense, cutter);
        side.back().peer_in_source = !sending;
    }
    put_in_order(side, itemsize, local);
}

}  // namespace

void put_in_order(std::vector<Message>& side, std::int64_t itemsize, std::int64_t local) {
    std::stable_sort(side.begin(), side.end(),
                     [](const Message& a, const Message& b) { return a.turn < b.turn; });
    const std::int64_t most = std::max<std::int64_t>(transport::piece_bytes, itemsize);
    std::int64_t all = local, offset = 0;
    for (const Message& message : side) all += message.bytes;
    for (Message& message : side) {
        if (side.size() > 1) message.bytes_of_many = all;
        message.count = static_cast<std::int64_t>(side.size());
        message.buffer_offset = offset;
        message.largest_piece = std::min(message.bytes, most);
        offset += transport::in_lines(message.bytes);
    }
}

Schedule plan_schedule(const Plan& plan, const LocalView& source, const LocalView& destination) {
    Schedule made;
    const bool forwards = plan.options().strategy != "auto" && plan.strategy() != "direct";
    if (forwards) add_relay(made, plan, source, destination);
    made.text = [plan, forwards] {
        return plan.source().text() + " to " + plan.destination().text() + ", strategy " +
               (forwards ? plan.strategy() : "direct");
    };
    // One process on both sides, whose elements stay.
    const bool both = source.process >= 0 && destination.process >= 0 &&
                      plan.same_process(destination.process) == source.process;
    if (source.process >= 0) {
        const plan::Part part = plan.part(Side::source, source.process);
        const std::int64_t self = both ? destination.process : -1;
        const auto& peers = part.peers();
        for (std::size_t k = 0; k < peers.size(); ++k)
            if (peers[k].process == self) {
                const MessageBoxes boxes{part.boxes(k), plan.options().itemsize, source.strides,
                                         destination.strides};
                made.local = cut(boxes, Chunks::Kind::between, bytes_of_part(boxes));
            }
        made.receivers = others(peers, self);
        if (!forwards) add_messages(made.sends, plan, part, true, source, self, 0);
    }
    if (destination.process >= 0) {
        const plan::Part part = plan.part(Side::destination, destination.process);
        const std::int64_t self = both ? source.process : -1;
        made.senders = others(part.peers(), self);
        if (!forwards)
            add_messages(made.receives, plan, part, false, destination, self, made.local.bytes());
    }
    return made;
}

}  // namespace hocket::transfer
