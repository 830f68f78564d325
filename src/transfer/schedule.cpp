// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/schedule.hpp"

#include <algorithm>

namespace hocket::transfer {
namespace {

using transport::Message;

// Common to the messages of a plan.
struct Ends {
    Plan plan;
    LocalView source, destination;
    std::optional<plan::Part> source_part, destination_part;

    // Each process starts with another peer, so that they do not all send to the same one at once.
    // Both sides give a message the same turn, and no process has two messages of one turn.
    std::int64_t turn(std::int64_t from, std::int64_t to) const {
        const std::int64_t players = std::max(plan.source().size(), plan.destination().size());
        return (to - from - 1 + players) % players;
    }
    Boxes boxes_of(const plan::Part& part, std::size_t peer) const {
        return {part.boxes(peer), plan.options().itemsize, source.strides, destination.strides};
    }
    Chunks chunks_of(const Message& message, bool sending, Chunks::Kind kind,
                     std::int64_t part_bytes) const {
        Boxes boxes = boxes_of(sending ? *source_part : *destination_part, message.number);
        if (part_bytes > 0) return cut(boxes, kind, part_bytes);
        // The other end's array is dense, or that end does not publish its address.
        const Layout& other = sending ? plan.destination() : plan.source();
        (sending ? boxes.destination : boxes.source) =
            dense_strides(other.local_shape(message.peer), boxes.itemsize);
        return cut(boxes, kind, bytes_of_part(boxes));
    }
};

// `peers`: processes of the other side; returns all but this process.
std::vector<std::int64_t> others(const std::vector<plan::Traffic>& peers, std::int64_t self) {
    std::vector<std::int64_t> found;
    for (const plan::Traffic& each : peers)
        if (each.process != self) found.push_back(each.process);
    return found;
}

void add_messages(std::vector<Message>& side, const std::shared_ptr<const Ends>& ends, bool sending,
                  std::int64_t self) {
    const LocalView& here = sending ? ends->source : ends->destination;
    const std::int64_t itemsize = ends->plan.options().itemsize;
    const auto& peers = (sending ? ends->source_part : ends->destination_part)->peers();
    const auto cutter = std::make_shared<const Message::Cutter>(
        [ends, sending](const Message& message, Chunks::Kind kind, std::int64_t part_bytes) {
            return ends->chunks_of(message, sending, kind, part_bytes);
        });
    for (std::size_t k = 0; k < peers.size(); ++k) {
        const std::int64_t other = peers[k].process;
        if (other == self) continue;
        side.emplace_back(
            other, k, sending ? ends->turn(here.process, other) : ends->turn(other, here.process),
            peers[k].elements * itemsize, here.dense, cutter);
        side.back().peer_in_source = !sending;
    }
    put_in_order(side, itemsize);
}

}  // namespace

void put_in_order(std::vector<Message>& side, std::int64_t itemsize) {
    std::stable_sort(side.begin(), side.end(),
                     [](const Message& a, const Message& b) { return a.turn < b.turn; });
    const std::int64_t most = std::max<std::int64_t>(transport::piece_bytes, itemsize);
    std::int64_t offset = 0;
    for (Message& message : side) {
        message.buffer_offset = offset;
        message.largest_piece = std::min(message.bytes, most);
        offset += transport::in_lines(message.bytes);
    }
}

Schedule plan_schedule(const Plan& plan, const LocalView& source, const LocalView& destination) {
    Schedule made;
    const auto ends = std::make_shared<Ends>(Ends{plan, source, destination, {}, {}});
    const bool forwards = plan.options().strategy != "auto" && plan.strategy() != "direct";
    if (forwards) add_relay(made, plan, source, destination);
    made.text = [ends, forwards] {
        return ends->plan.source().text() + " to " + ends->plan.destination().text() +
               ", strategy " + (forwards ? ends->plan.strategy() : "direct");
    };
    // One process on both sides, whose elements stay.
    const bool both = source.process >= 0 && destination.process >= 0 &&
                      plan.same_process(destination.process) == source.process;
    if (source.process >= 0) {
        ends->source_part = plan.part(Side::source, source.process);
        const std::int64_t self = both ? destination.process : -1;
        const auto& peers = ends->source_part->peers();
        for (std::size_t k = 0; k < peers.size(); ++k)
            if (peers[k].process == self) {
                const Boxes boxes = ends->boxes_of(*ends->source_part, k);
                made.local = cut(boxes, Chunks::Kind::between, bytes_of_part(boxes));
            }
        made.receivers = others(peers, self);
        if (!forwards) add_messages(made.sends, ends, true, self);
    }
    if (destination.process >= 0) {
        ends->destination_part = plan.part(Side::destination, destination.process);
        const std::int64_t self = both ? source.process : -1;
        made.senders = others(ends->destination_part->peers(), self);
        if (!forwards) add_messages(made.receives, ends, false, self);
    }
    return made;
}

}  // namespace hocket::transfer
