// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/weaving.hpp"

#include <algorithm>

#include "kernel/stream.hpp"

namespace hocket::transfer {

std::vector<const Parts*> Weaving::all() const {
    std::vector<const Parts*> all;
    if (local_.size() > 0) all.push_back(&local_);
    for (const auto& receive : receives_) all.push_back(&receive->parts());
    return all;
}

void Weaving::prepare() {
    weaves_.clear();
    std::int64_t bytes = 0;
    for (const Parts* parts : of_) {
        bytes += parts->bytes();
        if (parts->size() != of_[0]->size()) return;
    }
    // What stays in the caches is as fast message by message.
    if (of_.size() < 2 || bytes < kernel::least_streamed_bytes()) return;
    weaves_.resize(of_[0]->size());
    for (std::uint64_t part = 0; part < weaves_.size(); ++part) {
        std::vector<kernel::Strand> strands;
        for (const Parts* parts : of_)
            if (const LocalCopy* each = parts->only_copy(part))
                strands.push_back({&each->copy, each->source_offset, each->destination_offset});
        if (strands.size() == of_.size()) weaves_[part] = kernel::Weave::of(strands);
        if (part == 0 && !weaves_[0]) return weaves_.clear();
    }
}

bool Weaving::step(std::uint64_t& local_done, const std::byte* from, std::byte* to) {
    const bool stays = local_.size() > 0;
    std::uint64_t part = stays ? local_done : 0;
    for (const auto& receive : receives_) {
        const auto next = receive->next_part();
        if (!next) return false;
        part = std::max(part, *next);
    }
    // An array of the next start may be reached in another way.
    if (auto now = all(); now != of_) {
        of_ = std::move(now);
        prepare();
    }
    if (part >= weaves_.size() || !weaves_[part]) return false;
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

    std::vector<const std::byte*> sources;
    if (stays) sources.push_back(from);
    std::vector<NearReceive*> taken;
    for (const auto& receive : receives_) {
        if (!receive->take(part)) continue;
        const std::byte* const fetched = receive->fetch(part);
        if (fetched == nullptr) continue;
        sources.push_back(fetched);
        taken.push_back(receive.get());
    }
    if (taken.size() == receives_.size()) {
        weaves_[part]->run(sources, to);
    } else {  // a sender has helped, or is gone
        for (std::size_t i = 0; i < taken.size(); ++i)
            taken[i]->copy(part, sources[i + (stays ? 1 : 0)]);
        if (stays) local_.run(part, from, to, stores_for(local_.bytes()));
    }
    for (NearReceive* receive : taken) receive->finish();
    if (stays) ++local_done;
    return true;
}

}  // namespace hocket::transfer
