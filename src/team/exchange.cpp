// SPDX-License-Identifier: BSD-3-Clause
// The fast path of a round: no allocation, no lock, no clock, no virtual call. A round that takes
// longer continues as a protocol, in the one wait.
#include <algorithm>
#include <array>

#include "comm/engine.hpp"
#include "team/fold.hpp"
#include "team/peer_wait.hpp"
#include "team/root.hpp"
#include "team/round.hpp"

namespace hocket::team {
/// The state of the round, and the number of members whose values have arrived.
Root::TryResult Root::try_exchange(const Group& group, std::uint64_t header,
                                   const std::uint64_t* value, std::size_t words,
                                   std::uint64_t* values, std::size_t& observed) {
    shm::Payload cell;
    cell[0] = header;
    for (std::size_t i = 0; i < words; ++i) {
        cell[i + 1] = value[i];
        values[group.me * words + i] = value[i];
    }
    observed = 0;
    for (const auto& [flags, process] : group.members)
        if (flags != nullptr && !flags->observed()) return TryResult::nothing;
    for (const auto& [flags, process] : group.members)
        if (flags != nullptr) flags->publish(cell, words + 1);
    const bool crowded = comm::Engine::instance().crowded();
    bool same = true;
    for (observed = 0; observed < group.size(); ++observed) {
        const FlagPair* const flags = group.members[observed].flags;
        if (flags == nullptr) continue;
        if (!soon([flags = flags] { return flags->observed(); }, crowded))
            return TryResult::published;
        same &= flags->payload_word(0) == header;
        for (std::size_t i = 0; i < words; ++i)
            values[observed * words + i] = flags->payload_word(i + 1);
    }
    progress_sometimes();
    return same ? TryResult::complete : TryResult::published;
}

void Root::progress_sometimes() {
    if (++rounds_ % 256 != 0) return;
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    comm::Engine::instance().progress_once();
}

void Root::exchange(const std::shared_ptr<const Group>& group, const Header& header,
                    const std::uint64_t* value, std::size_t words, std::uint64_t* values,
                    const Deadline& deadline, const std::function<void()>& rest) {
    require_whole();
    auto round = std::shared_ptr<Round>();
    if (group->in_node && pending_rounds_.empty()) {
        std::size_t observed = 0;
        const TryResult published =
            try_exchange(*group, header.packed(), value, words, values, observed);
        if (published == TryResult::complete) return;
        round = std::make_shared<Round>();
        round->published = published == TryResult::published;
        round->observed = observed;
        round->values.assign(values, values + group->size() * words);
    } else {
        round = std::make_shared<Round>();
    }
    round->group = group;
    round->header = header;
    round->value.assign(value, value + words);
    round->all = true;
    finish(round, deadline, rest);
    std::copy(round->values.begin(), round->values.end(), values);
}

std::uint64_t Root::fold(const std::shared_ptr<const Group>& group, const Header& header,
                         std::uint64_t value, const Deadline& deadline) {
    const std::size_t words = header.bytes == 0 ? 0 : 1;
    if (group->in_node && group->size() <= max_fan_in) {
        std::array<std::uint64_t, max_fan_in> values;  // set by the round
        exchange(group, header, &value, words, values.data(), deadline);
        return result_of(header.op, header.type, {values.data(), group->size()}, group->me, 0);
    }
    require_whole();
    const auto round = std::make_shared<Round>();
    round->group = group;
    round->header = header;
    round->value.assign(words, value);
    finish(round, deadline);
    return round->result;
}

std::shared_ptr<comm::Call> Root::start(const std::shared_ptr<Round>& round) {
    const comm::EngineLock engine_lock;
    std::erase_if(pending_rounds_, [](const PendingRound& flight) { return flight.call->ended(); });
    std::vector<std::shared_ptr<comm::Call>> before;
    for (const auto& flight : pending_rounds_)
        if (flight.group->meets(*round->group)) before.push_back(flight.call);
    round->root = shared_from_this();
    const auto call = std::make_shared<comm::Call>(
        drive(round, std::move(before)),
        [header = round->header, group = round->group] { return text_of(header, *group); });
    pending_rounds_.push_back({round->group, call});
    comm::Engine::instance().add(call);
    try {
        call->poll();  // publishes at once, if it can
    } catch (const Error&) {
        return call;  // the call keeps the error for its owner
    }
    return call;
}

namespace {

bool failed(comm::Call& call) {
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    try {
        call.poll();
    } catch (const Error&) {
        return true;
    }
    return false;
}

}  // namespace

void Root::finish(const std::shared_ptr<Round>& round, const Deadline& deadline,
                  const std::function<void()>& rest) {
    const auto call = start(round);
    try {
        wait(*call, deadline);
    } catch (...) {  // a deadline's error, an interrupt, or an error of the round
        if (rest && !failed(*call)) rest();
        throw;
    }
    // Another thread may be polling other operations.
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    std::erase_if(pending_rounds_, [](const PendingRound& flight) { return flight.call->ended(); });
}

}  // namespace hocket::team
