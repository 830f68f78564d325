// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/weaving.hpp"

#include <algorithm>

#include "kernel/stream.hpp"

namespace hocket::transfer {

void Weaving::prepare() {
    prepared_ = true;
    std::vector<const Parts*> all;
    if (local_.size() > 0) all.push_back(&local_);
    for (const auto& receive : receives_) all.push_back(&receive->parts());
    std::int64_t bytes = 0;
    for (const Parts* parts : all) {
        bytes += parts->bytes();
        if (parts->size() != all[0]->size()) return;
    }
    // What stays in the caches is as fast message by message.
    if (all.size() < 2 || bytes < kernel::least_streamed_bytes()) return;
    weaves_.resize(all[0]->size());
    for (std::uint64_t part = 0; part < weaves_.size(); ++part) {
        std::vector<kernel::Strand> strands;
        for (const Parts* parts : all)
            if (const LocalCopy* each = parts->only_copy(part))
                strands.push_back({&each->copy, each->source_offset, each->destination_offset});
        if (strands.size() == all.size()) weaves_[part] = kernel::Weave::of(strands);
        if (part == 0 && !weaves_[0]) return weaves_.clear();
    }
}

bool Weaving::step(std::uint64_t& local_done, const std::byte* from, std::byte* to) {
    if (prepared_ && weaves_.empty()) return false;
    const bool stays = local_.size() > 0;
    std::uint64_t part = stays ? local_done : 0;
    for (const auto& receive : receives_) {
        const auto next = receive->next_part();
        if (!next) return false;
        part = std::max(part, *next);
    }
    if (!prepared_) prepare();
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
        sources.push_back(receive->origin());
        if (receive->take(part)) taken.push_back(receive.get());
    }
    if (taken.size() == receives_.size()) {
        weaves_[part]->run(sources, to);
    } else {  // a sender has helped
        for (const NearReceive* receive : taken) receive->copy(part);
        if (stays) local_.run(part, from, to, stores_for(local_.bytes()));
    }
    for (NearReceive* receive : taken) receive->finish();
    if (stays) ++local_done;
    return true;
}

}  // namespace hocket::transfer
