// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/cut.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "plan/box.hpp"

namespace hocket::transfer {
namespace {

std::int64_t offset_of(const Shape& first, const Shape& strides) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < first.size(); ++d) offset += first[d] * strides[d];
    return offset;
}

// For interleaved boxes: chunks small enough that their common cache lines stay in cache, and large
// enough that finding a box's share is not most of the work.
constexpr std::int64_t interleaved_bytes = std::int64_t{256} << 10, interleaved_share = 4096;

// Whether the outermost loops of two boxes interleave: equal loops that begin within one step on
// one side.
bool interleave(const plan::Box& a, const plan::Box& b) {
    if (a.loops.empty() || b.loops.empty()) return false;
    const plan::Loop& x = a.loops[0];
    if (!plan::same_step(x, b.loops[0])) return false;
    const auto within = [](const Shape& one, const Shape& other, int dimension, std::int64_t step) {
        const auto d = static_cast<std::size_t>(dimension);
        return std::abs(one[d] - other[d]) < std::abs(step);
    };
    return within(a.source_first, b.source_first, x.source_dimension, x.source_step) ||
           within(a.destination_first, b.destination_first, x.destination_dimension,
                  x.destination_step);
}

// The number of the first boxes that are divided together: 1, or several interleaved ones.
std::size_t divided_together(std::span<const plan::Box> boxes) {
    std::size_t count = 1;
    while (count < boxes.size() && interleave(boxes[0], boxes[count])) ++count;
    return count;
}

// Several boxes are divided by iterations of their outermost loops, one by elements. The elements
// of one box in such a turn.
std::int64_t elements_of_turn(const plan::Box& box, bool alone) {
    return alone ? 1 : plan::count(box) / box.loops[0].extent;
}

// As many whole inner loops as fit a chunk: at other boundaries, a chunk would be several boxes.
std::int64_t elements_at_once(const plan::Box& box, std::int64_t most) {
    const std::int64_t elements = plan::count(box);
    if (elements <= most) return elements;
    std::int64_t grain = 1;
    for (auto loop = box.loops.rbegin(); loop != box.loops.rend(); ++loop) {
        if (grain * loop->extent > most) break;
        grain *= loop->extent;
    }
    return most / grain * grain;
}

// The turns of one chunk of these boxes; 0: a turn of all of them is larger than a chunk.
std::int64_t turns_at_once(std::span<const plan::Box> boxes, std::int64_t itemsize,
                           std::int64_t part_bytes) {
    if (boxes.size() == 1)
        return elements_at_once(boxes[0], std::max<std::int64_t>(part_bytes / itemsize, 1));
    std::int64_t bytes = 0;  // of one turn
    for (const plan::Box& box : boxes) bytes += elements_of_turn(box, false) * itemsize;
    const auto shares = static_cast<std::int64_t>(boxes.size()) * interleaved_share;
    return std::min(part_bytes, std::max(interleaved_bytes, shares)) / bytes;
}

// For a box that skips elements within the cache lines of either side; else 0.
std::int64_t spaced_elements(const plan::Box& box, const MessageBoxes& message) {
    constexpr std::int64_t close = 128;  // bytes
    const int last = static_cast<int>(message.destination.size()) - 1;
    const int last_there = static_cast<int>(message.source.size()) - 1;
    const auto leaves_out = [&](std::int64_t step) {
        return std::abs(step) > 1 && std::abs(step) * message.itemsize <= close;
    };
    const bool spaced = std::any_of(box.loops.begin(), box.loops.end(), [&](const auto& loop) {
        return (loop.destination_dimension == last && leaves_out(loop.destination_step)) ||
               (loop.source_dimension == last_there && leaves_out(loop.source_step));
    });
    return spaced ? plan::count(box) : 0;
}

}  // namespace

kernel::OffsetCopy copy_of(const plan::Box& box, std::int64_t itemsize, const Shape* source,
                           const Shape* destination, std::int64_t buffer_offset) {
    Shape extents, from, to;
    for (const plan::Loop& loop : box.loops) {
        extents.push_back(loop.extent);
        if (source != nullptr)
            from.push_back(loop.source_step *
                           (*source)[static_cast<std::size_t>(loop.source_dimension)]);
        if (destination != nullptr)
            to.push_back(loop.destination_step *
                         (*destination)[static_cast<std::size_t>(loop.destination_dimension)]);
    }
    if (source == nullptr) from = dense_strides(extents, itemsize);
    if (destination == nullptr) to = dense_strides(extents, itemsize);
    return {
        {extents, itemsize, from, to},
        source != nullptr ? offset_of(box.source_first, *source) : buffer_offset,
        destination != nullptr ? offset_of(box.destination_first, *destination) : buffer_offset};
}

std::int64_t MessageBoxes::bytes() const {
    std::int64_t elements = 0;
    for (const auto& box : boxes) elements += plan::count(box);
    return elements * itemsize;
}

Chunks cut(const MessageBoxes& message, Chunks::Kind kind, std::int64_t part_bytes) {
    Chunks parts(kind);
    const auto add = [&](const plan::Box& box) {
        parts.add(copy_of(
            box, message.itemsize, kind != Chunks::Kind::unpacking ? &message.source : nullptr,
            kind != Chunks::Kind::packing ? &message.destination : nullptr, parts.filled()));
    };
    std::vector<plan::Box> pieces;
    for (std::span<const plan::Box> left = message.boxes; !left.empty();) {
        auto boxes = left.first(divided_together(left));
        std::int64_t at_once = turns_at_once(boxes, message.itemsize, part_bytes);
        if (at_once == 0) {
            boxes = left.first(1);
            at_once = turns_at_once(boxes, message.itemsize, part_bytes);
        }
        const bool alone = boxes.size() == 1;
        std::int64_t turns = 0;
        for (const plan::Box& box : boxes)
            turns = std::max(turns, alone ? plan::count(box) : box.loops[0].extent);
        for (std::int64_t turn = 0; turn < turns; turn += at_once) {
            std::int64_t bytes = 0;
            pieces.clear();
            for (const plan::Box& box : boxes) {
                const std::int64_t each = elements_of_turn(box, alone);
                const std::int64_t last = std::min((turn + at_once) * each, plan::count(box));
                for (auto& piece : plan::slice({box}, turn * each, last)) {
                    bytes += plan::count(piece) * message.itemsize;
                    pieces.push_back(std::move(piece));
                }
            }
            if (parts.filled() + bytes > part_bytes) parts.end_part();
            for (const auto& piece : pieces) add(piece);
        }
        left = left.subspan(boxes.size());
    }
    parts.end_part();
    return parts;
}

std::int64_t bytes_of_part(const MessageBoxes& message) {
    constexpr std::int64_t least = std::int64_t{1} << 19, least_spaced = std::int64_t{1} << 16;
    constexpr std::int64_t most = std::int64_t{1} << 20, parts = 256;
    const std::int64_t bytes = message.bytes();
    std::int64_t spaced = 0;
    for (const auto& box : message.boxes) spaced = std::max(spaced, spaced_elements(box, message));
    return 2 * spaced * message.itemsize > bytes ? least_spaced
                                                 : std::clamp(bytes / parts, least, most);
}

transport::Message message_of(MessageBoxes boxes, std::int64_t peer, std::int64_t turn,
                              bool publishes) {
    const std::int64_t bytes = boxes.bytes();
    const auto cutter = std::make_shared<const transport::Message::Cutter>(
        [boxes = std::move(boxes)](const transport::Message&, Chunks::Kind kind,
                                   std::int64_t part_bytes) {
            return cut(boxes, kind, part_bytes > 0 ? part_bytes : bytes_of_part(boxes));
        });
    return {peer, 0, turn, bytes, publishes, cutter};
}

transport::Message message_of(std::int64_t offset, std::int64_t bytes, bool sending,
                              std::int64_t peer, std::int64_t turn) {
    plan::Box box{{sending ? offset : 0}, {sending ? 0 : offset}, {{bytes, 0, 1, 0, 1}}};
    transport::Message message = message_of({{std::move(box)}, 1, {1}, {1}}, peer, turn, true);
    message.array_offset = offset;
    message.peer_in_source = !sending;
    return message;
}

}  // namespace hocket::transfer
