// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/parts.hpp"

#include <algorithm>

#include "kernel/runs_of.hpp"
#include "kernel/stream.hpp"
#include "plan/box.hpp"

namespace hocket::transfer {
namespace {

std::int64_t offset_of(const Shape& first, const Shape& strides) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < first.size(); ++d) offset += first[d] * strides[d];
    return offset;
}

// Whole inner loops to a part, as many as fit: cut elsewhere, a part would be several boxes.
std::int64_t elements_of_part(const plan::Box& box, std::int64_t most) {
    std::int64_t grain = 1;
    for (auto loop = box.loops.rbegin(); loop != box.loops.rend(); ++loop) {
        if (grain * loop->extent > most) break;
        grain *= loop->extent;
    }
    return std::max(grain, most / grain * grain);
}

}  // namespace

Strided::Strided(const plan::Box& of, std::int64_t itemsize) : box(of) {
    for (const auto& loop : box.loops) {
        extents.push_back(loop.extent);
        elements *= loop.extent;
    }
    dense = dense_strides(extents, itemsize);
}
Shape Strided::in_source(const Shape& strides) const {
    Shape out;
    for (const auto& loop : box.loops)
        out.push_back(loop.source_step * strides[static_cast<std::size_t>(loop.source_dimension)]);
    return out;
}
Shape Strided::in_destination(const Shape& strides) const {
    Shape out;
    for (const auto& loop : box.loops)
        out.push_back(loop.destination_step *
                      strides[static_cast<std::size_t>(loop.destination_dimension)]);
    return out;
}
std::int64_t Strided::source_offset(const Shape& strides) const {
    return offset_of(box.source_first, strides);
}
std::int64_t Strided::destination_offset(const Shape& strides) const {
    return offset_of(box.destination_first, strides);
}

std::int64_t Boxes::bytes() const {
    std::int64_t elements = 0;
    for (const auto& box : boxes) elements += plan::count(box);
    return elements * itemsize;
}

Parts::Parts(const Boxes& message, std::int64_t part_bytes, Kind kind) : kind_(kind) {
    std::int64_t filled = 0;  // bytes of the present part
    const auto end_part = [&] {
        if (filled == 0) return;
        ends_.push_back({copies_.size(), begin(ends_.size()) + filled});
        largest_ = std::max(largest_, filled);
        filled = 0;
    };
    const auto add = [&](const plan::Box& box) {
        const Strided strided(box, message.itemsize);
        LocalCopy copy = {{}, filled, filled};
        Shape from = strided.dense, to = strided.dense;
        if (kind != Kind::unpacking) {
            from = strided.in_source(message.source);
            copy.source_offset = strided.source_offset(message.source);
        }
        if (kind != Kind::packing) {
            to = strided.in_destination(message.destination);
            copy.destination_offset = strided.destination_offset(message.destination);
        }
        copy.copy = kernel::Copy(strided.extents, message.itemsize, from, to);
        copies_.push_back(std::move(copy));
        filled += strided.elements * message.itemsize;
    };
    const std::int64_t most = std::max<std::int64_t>(part_bytes / message.itemsize, 1);
    for (const auto& box : message.boxes) {
        const std::int64_t elements = plan::count(box);
        bytes_ += elements * message.itemsize;
        if (filled + elements * message.itemsize > part_bytes) end_part();
        if (elements <= most) {
            add(box);
            continue;
        }
        const std::int64_t step = elements_of_part(box, most);
        for (std::int64_t first = 0; first < elements; first += step) {
            for (const auto& piece : plan::slice({box}, first, std::min(first + step, elements)))
                add(piece);
            end_part();
        }
    }
    end_part();
}

Parts Parts::between(const Boxes& message, std::int64_t part_bytes) {
    return {message, part_bytes, Kind::between};
}
Parts Parts::packing(const Boxes& message, std::int64_t part_bytes) {
    return {message, part_bytes, Kind::packing};
}
Parts Parts::unpacking(const Boxes& message, std::int64_t part_bytes) {
    return {message, part_bytes, Kind::unpacking};
}

std::optional<std::int64_t> Parts::together() const {
    if (kind_ == Kind::between || copies_.empty()) return std::nullopt;
    const bool packing = kind_ == Kind::packing;
    const auto in_array = [&](const LocalCopy& copy) {
        return packing ? copy.source_offset : copy.destination_offset;
    };
    const std::int64_t first = in_array(copies_[0]);
    std::size_t i = 0;
    for (std::uint64_t part = 0; part < size(); ++part) {
        for (; i < ends_[part].copies; ++i) {
            const LocalCopy& each = copies_[i];
            const std::int64_t in_buffer = packing ? each.destination_offset : each.source_offset;
            if (!(packing ? each.copy.source_contiguous() : each.copy.destination_contiguous()) ||
                in_array(each) - first != begin(part) + in_buffer)
                return std::nullopt;
        }
    }
    return first;
}

void Parts::run(std::uint64_t part, const std::byte* source, std::byte* destination,
                kernel::Stores stores) const {
    const std::size_t first = part == 0 ? 0 : ends_[part - 1].copies;
    for (std::size_t i = first; i < ends_[part].copies; ++i) {
        const auto& [copy, from, to] = copies_[i];
        copy.run(source + from, destination + to, 1, stores);
    }
}

std::int64_t Parts::runs() const {
    std::int64_t runs = 0;
    for (const auto& each : copies_) runs += kernel::RunsOf(each.copy).count();
    return runs;
}

bool Parts::cross(std::uint64_t part, std::byte* here, const node::Place& there,
                  node::Crossing::Way way) const {
    const bool reading = way == node::Crossing::Way::read;
    auto* const other = reinterpret_cast<std::byte*>(there.offset);
    node::Crossing crossing(there.process, way);
    const std::size_t first = part == 0 ? 0 : ends_[part - 1].copies;
    for (std::size_t i = first; i < ends_[part].copies; ++i) {
        const LocalCopy& each = copies_[i];
        const auto add = [&](std::int64_t source, std::int64_t destination, std::int64_t bytes) {
            source += each.source_offset;
            destination += each.destination_offset;
            crossing.add(here + (reading ? destination : source),
                         other + (reading ? source : destination), static_cast<std::size_t>(bytes));
        };
        kernel::RunsOf(each.copy).each(add);
    }
    return crossing.finish();
}

kernel::Stores stores_for(std::int64_t message_bytes) {
    return message_bytes >= kernel::least_streamed_bytes() ? kernel::Stores::streaming
                                                           : kernel::Stores::cached;
}

std::int64_t bytes_of_part(std::int64_t message_bytes) {
    constexpr std::int64_t least = std::int64_t{1} << 19;
    constexpr std::int64_t parts = 256;
    return std::max(least, message_bytes / parts);
}

}  // namespace hocket::transfer
