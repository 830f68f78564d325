// SPDX-License-Identifier: BSD-3-Clause
#include "team/round.hpp"

#include <algorithm>

#include "team/awaited.hpp"
#include "team/fold.hpp"

namespace hocket::team {
namespace {

void put(Round& round, std::size_t place, const std::uint64_t* value) {
    std::copy_n(value, round.value.size(),
                round.values.begin() + static_cast<std::ptrdiff_t>(place * round.value.size()));
}

/// One of many who goes by leaders, and does not tell everyone, but has told me.
std::optional<Quarrel> strayed(const Round& round) {
    const Group& group = *round.group;
    if (group.size() <= fan) return std::nullopt;
    for (std::size_t place = round.heard; place < group.size(); ++place) {
        const Talk* const talk = group.members[place].talk;
        if (talk == nullptr || !talk->heard() || talk->word(0) == round.header.packed()) continue;
        std::vector<std::uint64_t> headers(group.size(), round.header.packed());
        headers[place] = talk->word(0);
        const auto quarrel = quarrel_of(group, headers);
        if (quarrel && parted(group, *quarrel)) return quarrel;
    }
    return std::nullopt;
}

comm::Protocol<> directly(Round& round) {
    const Group& group = *round.group;
    const std::size_t words = round.value.size();
    if (!round.said) {
        // Of a round that could not end, as somebody left, others may be to hear yet: who speaks
        // twice meanwhile speaks over words that they have not read.
        for (std::size_t place = 0; place < group.size(); ++place) {
            const Talk* const talk = group.members[place].talk;
            if (talk == nullptr) continue;
            Awaited before(round, place, [talk] { return talk->heard(); });
            co_await comm::until(before);
        }
        shm::Words cell{round.header.packed()};
        std::copy(round.value.begin(), round.value.end(), cell.begin() + 1);
        for (const auto& [talk, process] : group.members)
            if (talk != nullptr) talk->say(cell, words + 1);
        round.values.assign(group.size() * words, 0);
        put(round, group.me, round.value.data());
        round.said = true;
    }
    for (; round.heard < group.size(); ++round.heard) {
        const Talk* const talk = group.members[round.heard].talk;
        if (talk == nullptr) continue;
        std::optional<Quarrel> quarrel;
        Awaited heard(round, round.heard,
                      [&] { return talk->heard() || (quarrel = strayed(round)).has_value(); });
        co_await comm::until(heard);
        if (quarrel) judge(round, *quarrel);
        const shm::Words cell = talk->words(words + 1);
        put(round, round.heard, cell.data() + 1);
    }
    if (const auto quarrel = quarrel_of(group, round.header)) judge(round, *quarrel);
    if (!round.all && words > 0)
        round.result =
            result_of(round.header.op, round.header.type, round.values, group.me, group.me);
}

}  // namespace

std::string Round::text() const {
    return header.text() + " of the team " + group->mask.text();
}

comm::Protocol<> drive(std::shared_ptr<Round> round,
                       std::vector<std::shared_ptr<comm::Call>> before) {
    for (const auto& each : before) {
        comm::When ended([&each] { return each->ended(); });
        co_await comm::until(ended);
    }
    round->root->require_whole();
    if (round->direct()) {
        co_await directly(*round);
    } else {
        co_await by_leaders(*round);
    }
}

bool takes_all(const Group& group, Op op) {
    return needs_all(op) || (scans(op) && !group.in_order) ||
           (op == Op::waitvec && group.size() > 64);
}

bool parted(const Group& group, const Quarrel& quarrel) {
    if (quarrel.groups_differ()) return true;
    if (group.near && group.size() <= fan) return false;
    return takes_all(group, Header::unpacked(quarrel.low).op) !=
           takes_all(group, Header::unpacked(quarrel.high).op);
}

void judge(const Round& round, const Quarrel& quarrel) {
    round.root->judge(quarrel, parted(*round.group, quarrel));
}

std::optional<Quarrel> quarrel_of(const Group& group, const std::vector<std::uint64_t>& headers) {
    for (std::size_t i = 1; i < headers.size(); ++i)
        if (headers[i] != headers[0])
            return Quarrel{static_cast<std::uint64_t>(group.process(0)), headers[0],
                           static_cast<std::uint64_t>(group.process(i)), headers[i]};
    return std::nullopt;
}

std::optional<Quarrel> quarrel_of(const Group& group, const Header& mine) {
    std::vector<std::uint64_t> headers(group.size(), mine.packed());
    for (std::size_t place = 0; place < group.size(); ++place)
        if (const Talk* const talk = group.members[place].talk) headers[place] = talk->word(0);
    return quarrel_of(group, headers);
}

}  // namespace hocket::team
