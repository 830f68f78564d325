// SPDX-License-Identifier: BSD-3-Clause
#include "plan/direct_rounds.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "plan/part.hpp"

namespace hocket::plan {

DirectRounds::DirectRounds(const std::shared_ptr<const Problem>& problem)
    : processes_(std::max(problem->source.size(), problem->destination.size())) {
    const std::int64_t from = problem->source.size(), to = problem->destination.size();
    if (base::product_up_to(from, to, limit + 1) > limit) {
        all_ = true;
        return;
    }
    std::vector<bool> seen(static_cast<std::size_t>(processes_), false);
    std::int64_t messages = 0;
    for (std::int64_t rank = 0; rank < from; ++rank) {
        const std::int64_t same = problem->same(Side::source, rank);
        auto& mine = messages_.emplace_back();
        const auto part = make_part(problem, Side::source, rank);
        for (const Traffic& peer : part->peers) {
            if (peer.process == same) continue;
            mine.push_back(static_cast<std::int32_t>(peer.process));
            seen[static_cast<std::size_t>(base::floor_mod(peer.process - rank, processes_))] = true;
            ++messages;
        }
    }
    for (std::int64_t turn = 0; turn < processes_; ++turn)
        if (seen[static_cast<std::size_t>(turn)]) used_.push_back(turn);
    const std::int64_t least = most_edges(messages_, to);
    if (least < static_cast<std::int64_t>(used_.size()) &&
        base::product_up_to(std::max(messages, from + to), least, work) < work) {
        colours_ = colour(messages_, to);
        coloured_ = least;
    } else {
        messages_.clear();
    }
}

std::int64_t DirectRounds::count() const {
    if (coloured_ > 0) return coloured_;
    return all_ ? processes_ : static_cast<std::int64_t>(used_.size());
}

std::int64_t DirectRounds::round(std::int64_t source_rank, std::int64_t destination_rank) const {
    if (coloured_ > 0) {
        const auto& mine = messages_[static_cast<std::size_t>(source_rank)];
        const auto at = std::lower_bound(mine.begin(), mine.end(), destination_rank);
        return colours_[static_cast<std::size_t>(source_rank)]
                       [static_cast<std::size_t>(at - mine.begin())];
    }
    const std::int64_t turn = base::floor_mod(destination_rank - source_rank, processes_);
    if (all_) return turn;
    return std::lower_bound(used_.begin(), used_.end(), turn) - used_.begin();
}

}  // namespace hocket::plan
