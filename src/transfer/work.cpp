// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/work.hpp"

#include <algorithm>

#include "plan/box.hpp"

namespace hocket::transfer {

// Starting each process at another peer keeps them from all talking to the same one at once. Both
// sides give a message the same turn, and no process has two of one turn: so whoever serves its
// messages in this order, few at a time, never waits for somebody who waits for it.
std::int64_t Work::turn(std::int64_t source, std::int64_t destination) const {
    const std::int64_t players = std::max(plan_.source().size(), plan_.destination().size());
    return (destination - source - 1 + players) % players;
}

std::vector<std::int64_t> Work::receivers() const {
    std::vector<std::int64_t> found;
    if (!source_part_) return found;
    for (const auto& [peer, elements] : source_part_->peers())
        if (destination_.process != peer || plan_.same_process(peer) != source_.process)
            found.push_back(peer);
    return found;
}

Boxes Work::boxes_of(const plan::Part& part, std::size_t peer) const {
    return {part.boxes(peer), plan_.options().itemsize, source_.strides, destination_.strides};
}

void Work::add_message(const plan::Part& part, std::size_t peer, bool sending) {
    const auto& [other, elements] = part.peers()[peer];
    Direction& side = sending ? sends : receives;
    side.messages.push_back(
        {other, peer, sending ? turn(source_.process, other) : turn(other, destination_.process),
         elements * plan_.options().itemsize});
}

void Work::put_in_order(Direction& side) {
    std::sort(side.messages.begin(), side.messages.end(),
              [](const Message& a, const Message& b) { return a.turn < b.turn; });
    const std::int64_t most = std::max<std::int64_t>(piece_bytes, plan_.options().itemsize);
    for (Message& message : side.messages) {
        message.buffer_offset = side.buffer;
        side.buffer += (message.bytes + 63) / 64 * 64;
        side.largest = std::max(side.largest, std::min(message.bytes, most));
    }
}

Work::Work(const Plan& plan, const Place& source, const Place& destination)
    : plan_(plan), source_(source), destination_(destination) {
    const bool passed_on = plan.options().strategy != "auto" && plan.strategy() != "direct";
    if (passed_on) relay.emplace(plan, source, destination);
    if (source.process >= 0) {
        const auto& part = source_part_.emplace(plan.part(Side::source, source.process));
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const std::int64_t peer = part.peers()[k].process;
            const bool stays =
                destination.process == peer && plan.same_process(peer) == source.process;
            if (!stays) {
                if (!passed_on) add_message(part, k, true);
                continue;
            }
            const Boxes stay = boxes_of(part, k);
            local = Parts::between(stay, bytes_of_part(stay));
        }
        put_in_order(sends);
    }
    if (destination.process >= 0) {
        const auto& part =
            destination_part_.emplace(plan.part(Side::destination, destination.process));
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const bool stays = part.peers()[k].process == source.process &&
                               plan.same_process(destination.process) == source.process;
            if (!stays && !passed_on) add_message(part, k, false);
        }
        put_in_order(receives);
    }
    near_sends_.resize(sends.messages.size());
    near_receives_.resize(receives.messages.size());
    far_sends_.resize(sends.messages.size());
    far_receives_.resize(receives.messages.size());
}

FarMessage::FarMessage(Parts cut) : pieces(std::move(cut)), in_place(pieces.together()) {}

const FarMessage& Work::far(std::size_t i, bool sending) const {
    auto& made = sending ? far_sends_[i] : far_receives_[i];
    if (made) return *made;
    const Boxes boxes = boxes_of(sending ? *source_part_ : *destination_part_,
                                 (sending ? sends : receives).messages[i].place);
    made = std::make_unique<FarMessage>(sending ? Parts::packing(boxes, piece_bytes)
                                                : Parts::unpacking(boxes, piece_bytes));
    ++made_;
    return *made;
}

const NearMessage& Work::near(std::size_t i, bool sending) const {
    auto& made = sending ? near_sends_[i] : near_receives_[i];
    if (made) return *made;
    const Message& message = (sending ? sends : receives).messages[i];
    const std::int64_t peer = message.peer;
    Boxes boxes = boxes_of(sending ? *source_part_ : *destination_part_, message.place);
    // The other end's array is dense, or it does not say where it lies.
    if (sending)
        boxes.destination = dense_strides(plan_.destination().local_shape(peer), boxes.itemsize);
    else
        boxes.source = dense_strides(plan_.source().local_shape(peer), boxes.itemsize);
    made = std::make_unique<NearMessage>(std::move(boxes),
                                         sending ? source_.dense : destination_.dense);
    ++made_;
    return *made;
}

}  // namespace hocket::transfer
