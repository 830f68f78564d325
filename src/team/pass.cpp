// SPDX-License-Identifier: BSD-3-Clause
// Scans and putgets without a barrier, by streams of payloads: a scan along the chain of the
// members, a putget from its source to all others.
#include "base/backoff.hpp"
#include "base/platform.hpp"
#include "comm/engine.hpp"
#include "team/fold.hpp"
#include "team/peer_wait.hpp"
#include "team/root.hpp"
#include "team/round.hpp"

namespace hocket::team {
namespace {

/// The members whose values this one takes (at most one), and those that take its value.
struct Neighbours {
    std::optional<std::size_t> from;
    std::size_t first = 0, last = 0;  // without this one

    Neighbours(const Group& group, Op op, std::size_t source) {
        if (scans(op)) {
            if (group.me > 0) from = group.me - 1;
            first = group.me + 1;
            last = std::min(group.me + 2, group.size());
        } else if (group.me == source) {
            last = group.size();
        } else {
            from = source;
        }
    }
};

/// Polls for a short time, as the next round may be far away.
template <class Come>
bool soon(Come come, bool crowded) {
    constexpr int polls = 1000;
    for (int i = 0; i < polls; ++i) {
        if (come()) return true;
        if (!crowded) {
            platform::pause();
        } else if (i >= 20 && !base::yield_or_sleep()) {
            return false;
        }
    }
    return false;
}

constexpr std::size_t cell_words = 4;

std::string later(const Header& header, int process, std::uint64_t others, std::uint64_t mine) {
    return header.text() + " without a barrier: process " + std::to_string(process) +
           " has taken part in " + std::to_string(others) +
           " rounds with this process, which counts " + std::to_string(mine) +
           "; call common operations in the same order";
}

}  // namespace

std::uint64_t Root::pass_on(const Group& group, const Header& header, std::uint64_t value,
                            std::size_t source) {
    const Neighbours with(group, header.op, source);
    std::uint64_t result = value;
    if (with.from) {
        const int process = group.process(*with.from);
        const shm::Payload words = stream(group, *with.from).take(cell_words);
        Mismatch differing{static_cast<std::uint64_t>(me_), header.packed(),
                           static_cast<std::uint64_t>(process), words[0]};
        if (process < me_)
            differing = {differing.high_process, words[0], differing.low_process, header.packed()};
        if (words[0] != header.packed()) throw_mismatch(differing, true);
        const std::uint64_t rounds = links_[static_cast<std::size_t>(process)].flags.published;
        if (words[2] != rounds || words[3] != source)
            abort_team({"MismatchError", words[2] != rounds
                                             ? later(header, process, words[2], rounds)
                                             : header.text() + " without a barrier: process " +
                                                   std::to_string(process) +
                                                   " names another source than this one"});
        const Fold fold = fold_of(header.op, header.type);
        result = fold != nullptr ? fold(words[1], value) : words[1];
    }
    for (std::size_t member = with.first; member < with.last; ++member) {
        if (member == group.me) continue;
        const std::uint64_t rounds =
            links_[static_cast<std::size_t>(group.process(member))].flags.published;
        stream(group, member).publish({header.packed(), result, rounds, source}, cell_words);
    }
    return result;
}

std::uint64_t Root::pass(const std::shared_ptr<const Group>& group, const Header& header,
                         std::uint64_t value, std::size_t source, const Deadline& deadline) {
    require_whole();
    if (pending_rounds_.empty()) {
        const bool crowded = comm::Engine::instance().crowded();
        const Neighbours with(*group, header.op, source);
        bool ready =
            !with.from || soon([&] { return stream(*group, *with.from).readable(); }, crowded);
        for (std::size_t member = with.first; ready && member < with.last; ++member)
            ready = member == group->me ||
                    soon([&] { return stream(*group, member).writable(); }, crowded);
        if (ready) {
            progress_sometimes();
            return pass_on(*group, header, value, source);
        }
    }
    const auto round = std::make_shared<Round>();
    round->group = group;
    round->header = header;
    round->value.assign(1, value);
    round->source = source;
    finish(round, deadline);
    return round->result;
}

comm::Protocol<> pass_round(Round& round) {
    Root& root = *round.root;
    const Group& group = *round.group;
    const Neighbours with(group, round.header.op, *round.source);
    if (with.from) {
        PeerWait come(round, *with.from, [&] { return root.stream(group, *with.from).readable(); });
        co_await comm::until(come);
    }
    for (std::size_t member = with.first; member < with.last; ++member) {
        if (member == group.me) continue;
        PeerWait room(round, member, [&] { return root.stream(group, member).writable(); });
        co_await comm::until(room);
    }
    round.result = root.pass_on(group, round.header, round.value[0], *round.source);
}

}  // namespace hocket::team
