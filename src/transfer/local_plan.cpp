// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/local_plan.hpp"

#include <algorithm>

#include "transfer/cut.hpp"

namespace hocket::transfer {

using transport::Direction;
using transport::Message;

struct LocalPlan::Ends {
    Plan plan;
    LocalView source, destination;
    std::optional<plan::Part> source_part, destination_part;

    // Starting each process at another peer keeps them from all talking to the same one at once.
    // Both sides give a message the same turn, and no process has two of one turn: so whoever
    // serves its messages in this order, few at a time, never waits for somebody who waits for it.
    std::int64_t turn(std::int64_t from, std::int64_t to) const {
        const std::int64_t players = std::max(plan.source().size(), plan.destination().size());
        return (to - from - 1 + players) % players;
    }
    Boxes boxes_of(const plan::Part& part, std::size_t peer) const {
        return {part.boxes(peer), plan.options().itemsize, source.strides, destination.strides};
    }
    Chunks stay(std::size_t peer) const {
        const Boxes boxes = boxes_of(*source_part, peer);
        return cut(boxes, Chunks::Kind::between, bytes_of_part(boxes));
    }
    Chunks parts_of(const Message& message, bool sending, Chunks::Kind kind,
                    std::int64_t part_bytes) const {
        Boxes boxes = boxes_of(sending ? *source_part : *destination_part, message.number);
        if (part_bytes > 0) return cut(boxes, kind, part_bytes);
        // The other end's array is dense, or it does not say where it lies.
        const Layout& other = sending ? plan.destination() : plan.source();
        (sending ? boxes.destination : boxes.source) =
            dense_strides(other.local_shape(message.peer), boxes.itemsize);
        return cut(boxes, kind, bytes_of_part(boxes));
    }
};

const Plan& LocalPlan::plan() const {
    return ends_->plan;
}

std::vector<std::int64_t> LocalPlan::receivers() const {
    std::vector<std::int64_t> found;
    if (!ends_->source_part) return found;
    for (const auto& [peer, elements] : ends_->source_part->peers())
        if (ends_->destination.process != peer ||
            ends_->plan.same_process(peer) != ends_->source.process)
            found.push_back(peer);
    return found;
}

void LocalPlan::add_message(std::size_t peer, bool sending) {
    const Ends& ends = *ends_;
    const LocalView& here = sending ? ends.source : ends.destination;
    const auto& [other, elements] =
        (sending ? ends.source_part : ends.destination_part)->peers()[peer];
    (sending ? sends : receives)
        .messages.emplace_back(
            other, peer, sending ? ends.turn(here.process, other) : ends.turn(other, here.process),
            elements * ends.plan.options().itemsize, here.dense,
            sending ? cut_sends_ : cut_receives_);
}

void LocalPlan::put_in_order(Direction& side) {
    std::sort(side.messages.begin(), side.messages.end(),
              [](const Message& a, const Message& b) { return a.turn < b.turn; });
    const std::int64_t most =
        std::max<std::int64_t>(transport::piece_bytes, plan().options().itemsize);
    for (Message& message : side.messages) {
        message.buffer_offset = side.buffer;
        side.buffer += (message.bytes + 63) / 64 * 64;
        side.largest = std::max(side.largest, std::min(message.bytes, most));
    }
}

LocalPlan::LocalPlan(const Plan& plan, const LocalView& source, const LocalView& destination) {
    const auto ends = std::make_shared<Ends>(Ends{plan, source, destination, {}, {}});
    ends_ = ends;
    const auto cutter = [&](bool sending) {
        return std::make_shared<const Message::Cutter>(
            [ends, sending](const Message& message, Chunks::Kind kind, std::int64_t part_bytes) {
                return ends->parts_of(message, sending, kind, part_bytes);
            });
    };
    cut_sends_ = cutter(true);
    cut_receives_ = cutter(false);
    const bool passed_on = plan.options().strategy != "auto" && plan.strategy() != "direct";
    if (passed_on) relay.emplace(plan, source, destination);
    if (source.process >= 0) {
        const auto& part = ends->source_part.emplace(plan.part(Side::source, source.process));
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const std::int64_t peer = part.peers()[k].process;
            const bool stays =
                destination.process == peer && plan.same_process(peer) == source.process;
            if (stays)
                local = ends->stay(k);
            else if (!passed_on)
                add_message(k, true);
        }
        put_in_order(sends);
    }
    if (destination.process >= 0) {
        const auto& part =
            ends->destination_part.emplace(plan.part(Side::destination, destination.process));
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const bool stays = part.peers()[k].process == source.process &&
                               plan.same_process(destination.process) == source.process;
            if (!stays && !passed_on) add_message(k, false);
        }
        put_in_order(receives);
    }
}

}  // namespace hocket::transfer
