// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interleaving.hpp"

#include <algorithm>

#include "kernel/stream.hpp"

namespace hocket::transport {

const Chunks& Interleaving::made_from(std::size_t i) const {
    if (local_.size() == 0) return receives_[i]->parts();
    return i == 0 ? local_ : receives_[i - 1]->parts();
}

void Interleaving::prepare() {
    copies_.clear();
    of_.clear();
    for (std::size_t i = 0; i < stream_count(); ++i) of_.push_back(&made_from(i));
    std::int64_t bytes = 0;
    for (const Chunks* parts : of_) {
        bytes += parts->bytes();
        if (parts->size() != of_[0]->size()) return;
    }
    // Smaller results stay in the caches, where separate messages are as fast.
    if (bytes < kernel::least_streamed_bytes()) return;
    copies_.resize(of_[0]->size());
    for (std::uint64_t part = 0; part < copies_.size(); ++part) {
        std::vector<const kernel::OffsetCopy*> here;
        for (const Chunks* parts : of_)
            if (const kernel::OffsetCopy* each = parts->only_copy(part)) here.push_back(each);
        if (here.size() == of_.size()) copies_[part] = kernel::InterleavedCopy::of(here);
        if (part == 0 && !copies_[0]) return copies_.clear();
    }
}

bool Interleaving::step(std::uint64_t& local_done, const std::byte* from, std::byte* to) {
    if (stream_count() < 2) return false;
    const bool stays = local_.size() > 0;
    std::uint64_t part = stays ? local_done : 0;
    for (const auto& receive : receives_) {
        const auto next = receive->next_part();
        if (!next) return false;
        part = std::max(part, *next);
    }
    bool same = of_.size() == stream_count();
    for (std::size_t i = 0; same && i < of_.size(); ++i) same = of_[i] == &made_from(i);
    if (!same) prepare();
    if (part >= copies_.size() || !copies_[part]) return false;
    bool behind = false;
    if (stays && local_done < part) {
        behind = true;
        local_.run(local_done++, from, to, stores_for(local_.bytes()));
    }
    for (const auto& receive : receives_) {
        if (receive->next_part().value_or(part) >= part) continue;
        behind = true;
        receive->poll();
    }
    if (behind) return true;

    sources_.clear();
    taken_.clear();
    if (stays) sources_.push_back(from);
    for (const auto& receive : receives_) {
        if (!receive->take(part)) continue;
        const std::byte* const fetched = receive->fetch(part);
        if (fetched == nullptr) continue;
        sources_.push_back(fetched);
        taken_.push_back(receive.get());
    }
    if (taken_.size() == receives_.size()) {
        copies_[part]->run(sources_, to);
    } else {  // a sender has taken a chunk, or has ended
        for (std::size_t i = 0; i < taken_.size(); ++i)
            taken_[i]->copy(part, sources_[i + (stays ? 1 : 0)]);
        if (stays) local_.run(part, from, to, stores_for(local_.bytes()));
    }
    for (ShmReceive* receive : taken_) receive->finish();
    if (stays) ++local_done;
    return true;
}

}  // namespace hocket::transport
