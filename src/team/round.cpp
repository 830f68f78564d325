// SPDX-License-Identifier: BSD-3-Clause
#include "team/round.hpp"

#include <algorithm>

#include "team/fold.hpp"
#include "team/peer_wait.hpp"

namespace hocket::team {
namespace {

void put(Round& round, std::size_t member, const std::uint64_t* value) {
    std::copy_n(value, round.value.size(),
                round.values.begin() + static_cast<std::ptrdiff_t>(member * round.value.size()));
}

/// In a large group: a process that expects a round by leaders and has published to this one only.
std::optional<Mismatch> strayed(const Round& round) {
    const Group& group = *round.group;
    if (group.size() <= max_fan_in) return std::nullopt;
    for (std::size_t member = round.observed; member < group.size(); ++member) {
        const FlagPair* const flags = group.members[member].flags;
        if (flags == nullptr || !flags->observed() ||
            flags->payload_word(0) == round.header.packed())
            continue;
        std::vector<std::uint64_t> headers(group.size(), round.header.packed());
        headers[member] = flags->payload_word(0);
        const auto mismatch = mismatch_of(group, headers);
        if (mismatch && groups_disagree(group, *mismatch)) return mismatch;
    }
    return std::nullopt;
}

comm::Protocol<> directly(Round& round) {
    const Group& group = *round.group;
    const std::size_t words = round.value.size();
    if (!round.published) {
        // A round that could not end because a process left may have unread payloads. A second
        // payload would overwrite them.
        for (std::size_t member = 0; member < group.size(); ++member) {
            const FlagPair* const flags = group.members[member].flags;
            if (flags == nullptr) continue;
            PeerWait before(round, member, [flags] { return flags->observed(); });
            co_await comm::until(before);
        }
        shm::Payload cell{round.header.packed()};
        std::copy(round.value.begin(), round.value.end(), cell.begin() + 1);
        for (const auto& [flags, process] : group.members)
            if (flags != nullptr) flags->publish(cell, words + 1);
        round.values.assign(group.size() * words, 0);
        put(round, group.me, round.value.data());
        round.published = true;
    }
    for (; round.observed < group.size(); ++round.observed) {
        const FlagPair* const flags = group.members[round.observed].flags;
        if (flags == nullptr) continue;
        std::optional<Mismatch> mismatch;
        PeerWait observed(round, round.observed, [&] {
            return flags->observed() || (mismatch = strayed(round)).has_value();
        });
        co_await comm::until(observed);
        if (mismatch) throw_mismatch(round, *mismatch);
        const shm::Payload cell = flags->payload(words + 1);
        put(round, round.observed, cell.data() + 1);
    }
    if (const auto mismatch = mismatch_of(group, round.header)) throw_mismatch(round, *mismatch);
    if (!round.all && words > 0)
        round.result =
            result_of(round.header.op, round.header.type, round.values, group.me, group.me);
}

}  // namespace

std::string text_of(const Header& header, const Group& group) {
    return header.text() + " of the team " + group.mask.text();
}

comm::Protocol<> drive(std::shared_ptr<Round> round,
                       std::vector<std::shared_ptr<comm::Call>> before) {
    for (const auto& each : before) {
        comm::When ended([&each] { return each->ended(); });
        co_await comm::until(ended);
    }
    round->root->require_whole();
    if (round->source) {
        co_await pass_round(*round);
    } else if (round->direct()) {
        co_await directly(*round);
    } else {
        co_await hierarchical_round(*round);
    }
}

bool takes_all(const Group& group, Op op) {
    return needs_all(op) || (scans(op) && !group.in_order) ||
           (op == Op::waitvec && group.size() > 64);
}

bool groups_disagree(const Group& group, const Mismatch& mismatch) {
    if (mismatch.groups_differ()) return true;
    if (group.in_node && group.size() <= max_fan_in) return false;
    return takes_all(group, Header::unpacked(mismatch.low).op) !=
           takes_all(group, Header::unpacked(mismatch.high).op);
}

void throw_mismatch(const Round& round, const Mismatch& mismatch) {
    round.root->throw_mismatch(mismatch, groups_disagree(*round.group, mismatch));
}

std::optional<Mismatch> mismatch_of(const Group& group, const std::vector<std::uint64_t>& headers) {
    for (std::size_t i = 1; i < headers.size(); ++i)
        if (headers[i] != headers[0])
            return Mismatch{static_cast<std::uint64_t>(group.process(0)), headers[0],
                            static_cast<std::uint64_t>(group.process(i)), headers[i]};
    return std::nullopt;
}

std::optional<Mismatch> mismatch_of(const Group& group, const Header& mine) {
    std::vector<std::uint64_t> headers(group.size(), mine.packed());
    for (std::size_t member = 0; member < group.size(); ++member)
        if (const FlagPair* const flags = group.members[member].flags)
            headers[member] = flags->payload_word(0);
    return mismatch_of(group, headers);
}

}  // namespace hocket::team
