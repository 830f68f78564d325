// SPDX-License-Identifier: BSD-3-Clause
#include "transport/chunks.hpp"

#include <algorithm>
#include <utility>

#include "kernel/runs_of.hpp"
#include "kernel/stream.hpp"

namespace hocket::transport {

void Chunks::add(kernel::Copy copy, std::int64_t source_offset, std::int64_t destination_offset) {
    const bool packing = kind_ == Kind::packing;
    const std::int64_t in_array = packing ? source_offset : destination_offset;
    if (!apart_ && kind_ != Kind::between) {
        const LocalCopy* const first = copies_.empty() ? nullptr : &copies_[0];
        const std::int64_t begins = first == nullptr ? in_array
                                    : packing        ? first->source_offset
                                                     : first->destination_offset;
        apart_ = !(packing ? copy.source_contiguous() : copy.destination_contiguous()) ||
                 in_array - begins != bytes() + filled_;
    }
    filled_ += copy.bytes();
    copies_.push_back({std::move(copy), source_offset, destination_offset});
}

void Chunks::end_part() {
    if (filled_ == 0) return;
    ends_.push_back({copies_.size(), bytes() + filled_});
    largest_ = std::max(largest_, filled_);
    filled_ = 0;
}

std::optional<std::int64_t> Chunks::together() const {
    if (kind_ == Kind::between || copies_.empty() || apart_) return std::nullopt;
    return kind_ == Kind::packing ? copies_[0].source_offset : copies_[0].destination_offset;
}

void Chunks::run(std::uint64_t part, const std::byte* source, std::byte* destination,
                 kernel::Stores stores) const {
    const std::size_t first = part == 0 ? 0 : ends_[part - 1].copies;
    for (std::size_t i = first; i < ends_[part].copies; ++i) {
        const auto& [copy, from, to] = copies_[i];
        copy.run(source + from, destination + to, 1, stores);
    }
}

const LocalCopy* Chunks::only_copy(std::uint64_t part) const {
    const std::size_t first = part == 0 ? 0 : ends_[part - 1].copies;
    return ends_[part].copies == first + 1 ? &copies_[first] : nullptr;
}

std::int64_t Chunks::runs() const {
    std::int64_t runs = 0;
    for (const auto& each : copies_) runs += kernel::RunsOf(each.copy).count();
    return runs;
}

bool Chunks::cross(std::uint64_t part, std::byte* here, const shm::SharedAddress& there,
                   shm::CmaTransfer::Direction way) const {
    const bool reading = way == shm::CmaTransfer::Direction::read;
    auto* const other = reinterpret_cast<std::byte*>(there.offset);
    shm::CmaTransfer crossing(there.process, way);
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

}  // namespace hocket::transport
