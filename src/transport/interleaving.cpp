// SPDX-License-Identifier: BSD-3-Clause
// Interleaved receives: messages within the node, and local elements, that interleave in the array
// of a process. Their chunks are copied together, whole cache lines at a time.
#include <algorithm>

#include "kernel/stream.hpp"
#include "transport/node_messages.hpp"

namespace hocket::transport {

// Local elements, if there are any, are the first stream, and each receive is one.
std::size_t NodeMessages::stream_count() const {
    return incoming_.size() + (schedule_->local.size() > 0 ? 1 : 0);
}

// The chunks of stream i at present: the next start may reach another array in another way.
const Chunks& NodeMessages::stream(std::size_t i) const {
    if (schedule_->local.size() == 0) return incoming_[i]->parts();
    return i == 0 ? schedule_->local : incoming_[i - 1]->parts();
}

void NodeMessages::prepare_interleaving() {
    auto& streams = interleaved_streams_;
    interleaved_.clear();
    streams.clear();
    for (std::size_t i = 0; i < stream_count(); ++i) streams.push_back(&stream(i));
    std::int64_t bytes = 0;
    for (const Chunks* parts : streams) {
        bytes += parts->bytes();
        if (parts->size() != streams[0]->size()) return;
    }
    // Smaller results stay in the caches, where separate messages are as fast.
    if (bytes < kernel::least_streamed_bytes()) return;
    interleaved_.resize(streams[0]->size());
    for (std::uint64_t part = 0; part < interleaved_.size(); ++part) {
        std::vector<const kernel::OffsetCopy*> here;
        for (const Chunks* parts : streams)
            if (const kernel::OffsetCopy* each = parts->only_copy(part)) here.push_back(each);
        if (here.size() == streams.size()) interleaved_[part] = kernel::InterleavedCopy::of(here);
        if (part == 0 && !interleaved_[0]) return interleaved_.clear();
    }
}

// Only if no other transport receives.
bool NodeMessages::interleave() {
    if (short_only_ || run_->scratch != nullptr) return false;
    if (receiving_.empty() || receiving_.size() != incoming_.size()) return false;
    if (stream_count() < 2) return false;
    const Chunks& local = schedule_->local;
    const bool stays = local.size() > 0;
    std::uint64_t& local_done = run_->local_done;
    std::uint64_t part = stays ? local_done : 0;
    for (const auto& receive : incoming_) {
        const auto next = receive->next_part();
        if (!next) return false;
        part = std::max(part, *next);
    }
    bool same = interleaved_streams_.size() == stream_count();
    for (std::size_t i = 0; same && i < stream_count(); ++i)
        same = interleaved_streams_[i] == &stream(i);
    if (!same) prepare_interleaving();
    if (part >= interleaved_.size() || !interleaved_[part]) return false;
    const auto copy_local = [&](std::uint64_t chunk) {
        local.run(chunk, run_->source, run_->destination, stores_for(local.bytes()));
    };
    bool behind = false;
    if (stays && local_done < part) {
        behind = true;
        copy_local(local_done++);
    }
    for (const auto& receive : incoming_) {
        if (receive->next_part().value_or(part) >= part) continue;
        behind = true;
        receive->poll();
    }
    if (behind) return true;

    sources_.clear();
    taken_.clear();
    if (stays) sources_.push_back(run_->source);
    for (const auto& receive : incoming_) {
        if (!receive->take(part)) continue;
        const std::byte* const fetched = receive->fetch(part);
        if (fetched == nullptr) continue;
        sources_.push_back(fetched);
        taken_.push_back(receive.get());
    }
    if (taken_.size() == incoming_.size()) {
        interleaved_[part]->run(sources_, run_->destination);
    } else {  // a sender has taken a chunk, or has ended
        for (std::size_t i = 0; i < taken_.size(); ++i)
            taken_[i]->copy(part, sources_[i + (stays ? 1 : 0)]);
        if (stays) copy_local(part);
    }
    for (ShmReceive* receive : taken_) receive->finish();
    if (stays) ++local_done;
    return true;
}

}  // namespace hocket::transport
