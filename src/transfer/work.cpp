// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/work.hpp"

#include <algorithm>

namespace hocket::transfer {
namespace {

std::int64_t offset_of(const Shape& first, const Shape& strides) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < first.size(); ++d) offset += first[d] * strides[d];
    return offset;
}

// A box's extents, and its strides in bytes in both arrays and in a buffer that holds it densely.
struct Strided {
    Shape extents, source, destination, buffer;
    std::int64_t elements = 1;

    Strided(const plan::Box& box, const Shape* source_strides, const Shape* destination_strides,
            std::int64_t itemsize) {
        for (const auto& loop : box.loops) {
            extents.push_back(loop.extent);
            if (source_strides != nullptr)
                source.push_back(
                    loop.source_step *
                    (*source_strides)[static_cast<std::size_t>(loop.source_dimension)]);
            if (destination_strides != nullptr)
                destination.push_back(
                    loop.destination_step *
                    (*destination_strides)[static_cast<std::size_t>(loop.destination_dimension)]);
        }
        buffer.resize(extents.size());
        for (std::size_t i = extents.size(); i-- > 0;) {
            buffer[i] = elements * itemsize;
            elements *= extents[i];
        }
    }
};

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

namespace {

std::vector<LocalCopy> copies_between(const std::vector<plan::Box>& boxes, const Shape& source,
                                      const Shape& destination, std::int64_t itemsize) {
    std::vector<LocalCopy> copies;
    for (const auto& box : boxes) {
        const Strided strided(box, &source, &destination, itemsize);
        copies.push_back(
            {kernel::Copy(strided.extents, itemsize, strided.source, strided.destination),
             offset_of(box.source_first, source), offset_of(box.destination_first, destination)});
    }
    return copies;
}

void plan_direct(Work& work, const Plan& plan, const plan::Part& part, const Place& destination) {
    work.direct.resize(work.receives.size());
    for (std::size_t i = 0; i < work.receives.size(); ++i) {
        if (work.receives[i].bytes < direct_from) continue;
        const std::int64_t peer = work.receives[i].peer;
        const auto& peers = part.peers();
        const auto k = std::lower_bound(peers.begin(), peers.end(), peer,
                                        [](const plan::Traffic& traffic, std::int64_t process) {
                                            return traffic.process < process;
                                        });
        const std::int64_t itemsize = plan.options().itemsize;
        work.direct[i] = copies_between(part.boxes(static_cast<std::size_t>(k - peers.begin())),
                                        dense_strides(plan.source().local_shape(peer), itemsize),
                                        destination.strides, itemsize);
    }
}

}  // namespace

Work make_work(const Plan& plan, const Place& source, const Place& destination) {
    Work work;
    const std::int64_t itemsize = plan.options().itemsize;

    const auto add_message = [&](const plan::Part& part, std::size_t k, bool sending) {
        auto& buffer_bytes = sending ? work.send_buffer : work.receive_buffer;
        const Place& here = sending ? source : destination;
        Message message{part.peers()[k].process, 0, buffer_bytes, {}, false};
        for (const auto& box : part.boxes(k)) {
            const Strided strided(box, sending ? &here.strides : nullptr,
                                  sending ? nullptr : &here.strides, itemsize);
            const std::int64_t array_offset =
                offset_of(sending ? box.source_first : box.destination_first, here.strides);
            kernel::Copy copy(strided.extents, itemsize, sending ? strided.source : strided.buffer,
                              sending ? strided.buffer : strided.destination);
            message.pieces.push_back(
                {std::move(copy), array_offset, message.buffer_offset + message.bytes});
            message.bytes += strided.elements * itemsize;
        }
        message.in_place = lies_together(message.pieces, sending);
        if (!message.in_place) buffer_bytes += (message.bytes + 63) / 64 * 64;
        (sending ? work.sends : work.receives).push_back(std::move(message));
    };

    if (source.process >= 0) {
        const auto part = plan.part(Side::source, source.process);
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const std::int64_t peer = part.peers()[k].process;
            const bool stays =
                destination.process == peer && plan.same_process(peer) == source.process;
            if (!stays) {
                add_message(part, k, true);
                continue;
            }
            for (const auto& box : part.boxes(k)) {
                const Strided strided(box, &source.strides, &destination.strides, itemsize);
                work.copies.push_back(
                    {kernel::Copy(strided.extents, itemsize, strided.source, strided.destination),
                     offset_of(box.source_first, source.strides),
                     offset_of(box.destination_first, destination.strides)});
            }
        }
        rotate(work.sends, source.process);
    }
    if (destination.process >= 0) {
        const auto part = plan.part(Side::destination, destination.process);
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const bool stays = part.peers()[k].process == source.process &&
                               plan.same_process(destination.process) == source.process;
            if (!stays) add_message(part, k, false);
        }
        rotate(work.receives, destination.process);
        plan_direct(work, plan, part, destination);
    }
    return work;
}

}  // namespace hocket::transfer
