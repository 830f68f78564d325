// SPDX-License-Identifier: BSD-3-Clause
#include "transport/chunks.hpp"

#include <algorithm>
#include <utility>

#include "kernel/runs_of.hpp"
#include "kernel/stream.hpp"

namespace hocket::transport {

void Chunks::add(kernel::OffsetCopy copy) {
    filled_ += copy.copy.bytes();
    copies_.push_back(std::move(copy));
    if (apart_ || kind_ == Kind::between) return;
    const bool packing = kind_ == Kind::packing;
    const auto in_array = [&](const kernel::OffsetCopy& each) {
        return packing ? each.source_offset : each.destination_offset;
    };
    const kernel::OffsetCopy &first = copies_.front(), &last = copies_.back();
    apart_ = !(packing ? last.copy.source_contiguous() : last.copy.destination_contiguous()) ||
             in_array(last) - in_array(first) != bytes() + filled_ - last.copy.bytes();
}

void Chunks::end_part() {
    if (filled_ == 0) return;
    firsts_.push_back(copies_.size());
    bytes_.push_back(bytes() + filled_);
    largest_ = std::max(largest_, filled_);
    filled_ = 0;
}

std::optional<std::int64_t> Chunks::together() const {
    if (kind_ == Kind::between || copies_.empty() || apart_) return std::nullopt;
    return kind_ == Kind::packing ? copies_[0].source_offset : copies_[0].destination_offset;
}

void Chunks::run(std::uint64_t part, const std::byte* source, std::byte* destination,
                 kernel::Stores stores) const {
    for (const auto& [copy, from, to] : copies_of(part))
        copy.run(source + from, destination + to, 1, stores);
}

const kernel::OffsetCopy* Chunks::only_copy(std::uint64_t part) const {
    const auto copies = copies_of(part);
    return copies.size() == 1 ? copies.data() : nullptr;
}

std::int64_t Chunks::runs() const {
    std::int64_t runs = 0;
    for (const auto& each : copies_) runs += kernel::RunsOf(each.copy).count();
    return runs;
}

bool Chunks::cross(std::uint64_t part, std::byte* here, const shm::SharedAddress& there,
                   bool sending) const {
    auto* const other = reinterpret_cast<std::byte*>(there.offset);
    std::vector<iovec> here_runs, there_runs;
    bool alive = true;
    for (const kernel::OffsetCopy& each : copies_of(part)) {
        const auto add = [&](std::int64_t source, std::int64_t destination, std::int64_t bytes) {
            if (!alive || bytes == 0) return;
            const std::int64_t from = source + each.source_offset,
                               to = destination + each.destination_offset;
            const auto length = static_cast<std::size_t>(bytes);
            here_runs.push_back({here + (sending ? from : to), length});
            there_runs.push_back({other + (sending ? to : from), length});
            if (here_runs.size() >= shm::cma_runs)
                alive = shm::cma_copy(there.process, sending, here_runs, there_runs);
        };
        if (alive) kernel::RunsOf(each.copy).each(add);
    }
    return alive && shm::cma_copy(there.process, sending, here_runs, there_runs);
}

kernel::Stores stores_for(std::int64_t bytes, std::int64_t bytes_of_many) {
    // The elements of many processes come from the caches of other cores or from memory. Beside
    // them, the result itself must fit the second-level cache. (Measured on 16 processes: from that
    // size on, ordinary stores take 1.3 to 2 times as long; at a quarter of it, both take as long.)
    const std::int64_t least = kernel::least_streamed_bytes();
    return bytes >= least || bytes_of_many >= least / 2 ? kernel::Stores::streaming
                                                        : kernel::Stores::cached;
}

}  // namespace hocket::transport
