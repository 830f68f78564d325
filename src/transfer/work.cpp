// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/work.hpp"

#include <algorithm>

#include "plan/box.hpp"

namespace hocket::transfer {
namespace {

bool lies_together(const std::vector<Piece>& pieces, bool sending) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto& copy = pieces[i].copy;
        if (!(sending ? copy.source_contiguous() : copy.destination_contiguous())) return false;
        if (pieces[i].array_offset - pieces[0].array_offset !=
            pieces[i].buffer_offset - pieces[0].buffer_offset)
            return false;
    }
    return true;
}

// Starting each process at another peer keeps them from all talking to the same one at once.
void rotate(std::vector<Message>& messages, std::int64_t own) {
    const auto next = std::find_if(messages.begin(), messages.end(),
                                   [&](const Message& message) { return message.peer > own; });
    std::rotate(messages.begin(), next, messages.end());
}

}  // namespace

Place place_on(const Array& array) {
    return {array.process(), array.strides(),
            array.strides() == dense_strides(array.local_shape(), array.dtype().size)};
}

void Work::add_message(const plan::Part& part, std::size_t peer, bool sending) {
    auto& buffer_bytes = sending ? send_buffer : receive_buffer;
    const std::int64_t itemsize = plan_.options().itemsize;
    Message message{part.peers()[peer].process, 0, buffer_bytes, {}, false};
    for (const auto& box : part.boxes(peer)) {
        const Strided strided(box, itemsize);
        const Shape& strides = sending ? source_.strides : destination_.strides;
        const Shape array = sending ? strided.in_source(strides) : strided.in_destination(strides);
        const std::int64_t array_offset =
            sending ? strided.source_offset(strides) : strided.destination_offset(strides);
        kernel::Copy copy(strided.extents, itemsize, sending ? array : strided.dense,
                          sending ? strided.dense : array);
        message.pieces.push_back(
            {std::move(copy), array_offset, message.buffer_offset + message.bytes});
        message.bytes += strided.elements * itemsize;
    }
    message.in_place = lies_together(message.pieces, sending);
    if (!message.in_place) buffer_bytes += (message.bytes + 63) / 64 * 64;
    (sending ? sends : receives).push_back(std::move(message));
}

Work::Work(const Plan& plan, const Place& source, const Place& destination)
    : plan_(plan), source_(source), destination_(destination) {
    const std::int64_t itemsize = plan.options().itemsize;
    if (source.process >= 0) {
        const auto& part = source_part_.emplace(plan.part(Side::source, source.process));
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const std::int64_t peer = part.peers()[k].process;
            const bool stays =
                destination.process == peer && plan.same_process(peer) == source.process;
            if (!stays) {
                add_message(part, k, true);
                continue;
            }
            const Boxes stay{part.boxes(k), itemsize, source.strides, destination.strides};
            local = Parts::between(stay, bytes_of_part(stay.bytes()));
        }
        rotate(sends, source.process);
    }
    if (destination.process >= 0) {
        const auto& part =
            destination_part_.emplace(plan.part(Side::destination, destination.process));
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const bool stays = part.peers()[k].process == source.process &&
                               plan.same_process(destination.process) == source.process;
            if (!stays) add_message(part, k, false);
        }
        rotate(receives, destination.process);
    }
    near_sends_.resize(sends.size());
    near_receives_.resize(receives.size());
}

const NearMessage& Work::near(std::size_t i, bool sending) const {
    auto& made = sending ? near_sends_[i] : near_receives_[i];
    if (made) return *made;
    const std::int64_t peer = (sending ? sends : receives)[i].peer;
    const plan::Part& part = sending ? *source_part_ : *destination_part_;
    const auto& peers = part.peers();
    const auto k = std::lower_bound(peers.begin(), peers.end(), peer,
                                    [](const plan::Traffic& traffic, std::int64_t process) {
                                        return traffic.process < process;
                                    });
    Boxes boxes{part.boxes(static_cast<std::size_t>(k - peers.begin())), plan_.options().itemsize,
                source_.strides, destination_.strides};
    // The other end's array is dense, or it does not say where it lies.
    if (sending)
        boxes.destination = dense_strides(plan_.destination().local_shape(peer), boxes.itemsize);
    else
        boxes.source = dense_strides(plan_.source().local_shape(peer), boxes.itemsize);
    made = std::make_unique<NearMessage>(std::move(boxes),
                                         sending ? source_.dense : destination_.dense);
    return *made;
}

const NearMessage& Work::near_send(std::size_t i) const {
    return near(i, true);
}
const NearMessage& Work::near_receive(std::size_t i) const {
    return near(i, false);
}

}  // namespace hocket::transfer
