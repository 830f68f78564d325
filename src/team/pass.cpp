// SPDX-License-Identifier: BSD-3-Clause
// Scans and putgets without a barrier, by streams of payloads: a scan along the chain of the
// members; in a putget each process publishes its value to all others, and reads that of its
// source.
#include <algorithm>

#include "comm/engine.hpp"
#include "team/fold.hpp"
#include "team/peer_wait.hpp"
#include "team/root.hpp"
#include "team/round.hpp"

namespace hocket::team {

Route::Route(const Group& group, Op op, std::size_t source)
    : chain(scans(op)),
      first(chain ? group.me + 1 : 0),
      last(chain ? std::min(group.me + 2, group.size()) : group.size()) {
    if (chain && group.me > 0) from = group.me - 1;
    if (!chain && source != group.me) from = source;
}

namespace {

constexpr std::size_t cell_words = 3;

}  // namespace

std::uint64_t Root::receive(const Group& group, const Header& header, std::uint64_t value,
                            const Route& route) {
    if (!route.from) return value;
    const int process = group.process(*route.from);
    const shm::Payload words = stream(group, *route.from).take(cell_words);
    if (words[0] != header.packed()) {
        Mismatch differing{static_cast<std::uint64_t>(me_), header.packed(),
                           static_cast<std::uint64_t>(process), words[0]};
        if (process < me_)
            differing = {differing.high_process, words[0], differing.low_process, header.packed()};
        throw_mismatch(differing, true);
    }
    const std::uint64_t rounds = links_[static_cast<std::size_t>(process)].flags.published;
    if (words[2] != rounds)
        abort_team({"MismatchError",
                    text_of(header, group) + " without a barrier: process " +
                        std::to_string(process) + " has taken part in " + std::to_string(words[2]) +
                        " barriers with this process, which counts " + std::to_string(rounds) +
                        "; call common operations in the same order"});
    return route.chain ? fold_of(header.op, header.type)(words[1], value) : words[1];
}

void Root::publish(const Group& group, const Header& header, std::uint64_t value,
                   const Route& route) {
    for (std::size_t member = route.first; member < route.last; ++member) {
        if (member == group.me) continue;
        shm::FlagStream& to = stream(group, member);
        const auto process = static_cast<std::size_t>(group.process(member));
        to.publish({header.packed(), value, links_[process].flags.published}, cell_words);
        if (!route.chain && member != route.from) to.skip();
    }
}

bool Root::out_of_order(int process, bool passes) const {
    const MemberLink& other = links_[static_cast<std::size_t>(process)];
    if (!other.arena) return false;
    return passes ? other.flags.requested() : other.stream.readable();
}

std::uint64_t Root::pass(const std::shared_ptr<const Group>& group, const Header& header,
                         std::uint64_t value, std::size_t source, const Deadline& deadline) {
    require_whole();
    bool published = false;
    if (pending_rounds_.empty()) {
        const bool crowded = comm::Engine::instance().crowded();
        const Route route(*group, header.op, source);
        const auto come = [&] {
            return !route.from ||
                   soon([&] { return stream(*group, *route.from).readable(); }, crowded);
        };
        bool room = !route.chain || come();
        for (std::size_t member = route.first; room && member < route.last; ++member)
            room = member == group->me ||
                   soon([&] { return stream(*group, member).writable(); }, crowded);
        if (room && route.chain) {
            progress_sometimes();
            const std::uint64_t result = receive(*group, header, value, route);
            publish(*group, header, result, route);
            return result;
        }
        if (room) {
            publish(*group, header, value, route);
            published = true;
            progress_sometimes();
            if (come()) return receive(*group, header, value, route);
        }
    }
    const auto round = std::make_shared<Round>();
    round->group = group;
    round->header = header;
    round->value.assign(1, value);
    round->source = source;
    round->published = published;
    finish(round, deadline);
    return round->result;
}

comm::Protocol<> pass_round(Round& round) {
    Root& root = *round.root;
    const Group& group = *round.group;
    const Route route(group, round.header.op, *round.source);
    for (const bool receives : {route.chain, !route.chain}) {
        if (receives && route.from) {
            PeerWait come(round, *route.from,
                          [&] { return root.stream(group, *route.from).readable(); });
            co_await comm::until(come);
        }
        if (receives) round.value[0] = root.receive(group, round.header, round.value[0], route);
        if (receives || round.published) continue;
        for (std::size_t member = route.first; member < route.last; ++member) {
            if (member == group.me) continue;
            PeerWait room(round, member, [&] { return root.stream(group, member).writable(); });
            co_await comm::until(room);
        }
        root.publish(group, round.header, round.value[0], route);
    }
    round.result = round.value[0];
}

}  // namespace hocket::team
