// SPDX-License-Identifier: BSD-3-Clause
// Rounds by leaders. Up to 16 processes of a node report to one of them, their leader. Leaders
// report to leaders of their own, until at most 16 are left, which exchange values directly. One
// leader a node exchanges messages with those of other nodes (Bruck, Ho, Kipnis, Upfal, Weathersby:
// "Efficient algorithms for all-to-all communications in multiport message-passing systems", IEEE
// TPDS 8, 1997: all-gather in ceil(log2 n) rounds). Then leaders pass the results down: the fold of
// all values, or, in a scan, the fold of the values up to each process.
#include "team/hierarchical.hpp"

#include <algorithm>

namespace hocket::team {
namespace {

using comm::Protocol;
using Places = std::vector<std::size_t>;

/// The next message of that process.
Protocol<std::string> receive(Round& round, std::size_t member) {
    comm::Link& link = round.root->link();
    const int rank = round.group->process(member);
    for (;;) {
        std::optional<comm::ProbeResult> arrival;
        PeerWait come(round, member, [&] {
            if (!arrival) arrival = link.probe(rank, round.root->data_tag());
            return arrival.has_value();
        });
        co_await comm::until(come);
        comm::TextMessage observed =
            co_await comm::receive_text(link, std::move(*arrival), round.root->data_tag());
        if (Unpacker(observed.text).number() == round.root->number())
            co_return std::move(observed.text);
    }
}

}  // namespace

FlagPair& flags_with(const Round& round, std::size_t member) {
    return *round.group->members[member].flags;
}

void check_mismatch(const Round& round, const PartialResult& partial) {
    if (partial.mismatch && groups_disagree(*round.group, *partial.mismatch))
        throw_mismatch(round, *partial.mismatch);
}

void check_sender(const Round& round, std::size_t member, std::uint64_t header) {
    if (header == round.header.packed()) return;
    const Group& group = *round.group;
    throw_mismatch(round,
                   {static_cast<std::uint64_t>(group.process(member)), header,
                    static_cast<std::uint64_t>(group.process(group.me)), round.header.packed()});
}

void pack(Packer& out, const PartialResult& partial) {
    out.number(static_cast<std::int64_t>(partial.member));
    for (const std::uint64_t word : partial.packed()) out.number(static_cast<std::int64_t>(word));
}

PartialResult unpacked(Unpacker& in) {
    const auto member = static_cast<std::size_t>(in.number());
    shm::Payload words{};
    for (std::uint64_t& word : words) word = static_cast<std::uint64_t>(in.number());
    return PartialResult::unpacked(member, words);
}

comm::Protocol<std::vector<std::string>> between_nodes(Round& round, std::string mine) {
    const Group& group = *round.group;
    const std::size_t nodes = group.nodes.size(), me = group.my_node;
    comm::Link& link = round.root->link();
    std::vector<std::string> texts(nodes);
    texts[me] = std::move(mine);
    for (std::size_t apart = 1; apart < nodes; apart *= 2) {
        const std::size_t count = std::min(apart, nodes - apart);
        const std::size_t to = (me + nodes - apart) % nodes, from = (me + apart) % nodes;
        Packer out;
        out.number(round.root->number());
        out.number(static_cast<std::int64_t>(round.header.packed()));
        for (std::size_t i = 0; i < count; ++i) out.text(texts[(me + i) % nodes]);
        const std::string published = out.take();
        comm::Requests sending;
        link.send_text(sending, published, group.process(group.nodes[to][0]),
                       round.root->data_tag());

        const std::size_t sender = group.nodes[from][0];
        const std::string observed = co_await receive(round, sender);
        co_await comm::until(sending);

        Unpacker in(observed);
        in.number();  // the root team's number
        const auto header = static_cast<std::uint64_t>(in.number());
        Mismatch mismatch{static_cast<std::uint64_t>(group.process(group.me)),
                          round.header.packed(), static_cast<std::uint64_t>(group.process(sender)),
                          header};
        if (sender < group.me)
            mismatch = {mismatch.high_process, mismatch.high, mismatch.low_process, mismatch.low};
        if (mismatch.groups_differ()) throw_mismatch(round, mismatch);
        for (std::size_t i = 0; i < count; ++i) texts[(from + i) % nodes] = in.text();
    }
    co_return texts;
}

namespace {

/// Combines the partial results of all nodes into the result of this node.
Protocol<> settle_between_nodes(Round& round, PartialResult& partial) {
    Packer out;
    pack(out, partial);
    std::string mine = out.take();
    const std::vector<std::string> texts = co_await between_nodes(round, std::move(mine));
    std::vector<PartialResult> published;
    for (const std::string& text : texts) {
        Unpacker in(text);
        published.push_back(unpacked(in));
    }
    partial = answers_of(round, published, combined(round, published))[round.group->my_node];
}

/// Turns this process's partial result into its result. `participants`, in order, are the processes
/// of the node that take part, including this one.
Protocol<> settle(Round& round, Places participants, PartialResult& partial) {
    const Group& group = *round.group;
    if (group.nodes.size() == 1 && participants.size() <= max_fan_in) {
        const shm::Payload cell = partial.packed();
        for (const std::size_t member : participants)
            if (member != group.me) flags_with(round, member).publish(cell, PartialResult::words);
        std::vector<PartialResult> published;
        std::size_t at = 0;
        for (const std::size_t member : participants) {
            if (member == group.me) {
                at = published.size();
                published.push_back(partial);
                continue;
            }
            FlagPair& flags = flags_with(round, member);
            PeerWait come(round, member, [&flags] { return flags.observed(); });
            co_await comm::until(come);
            published.push_back(
                PartialResult::unpacked(member, flags.payload(PartialResult::words)));
            check_mismatch(round, combined(round, {partial, published.back()}));
        }
        partial = answers_of(round, published, combined(round, published))[at];
        co_return;
    }
    if (participants.size() == 1) {
        co_await settle_between_nodes(round, partial);
        co_return;
    }
    const auto at = static_cast<std::size_t>(
        std::find(participants.begin(), participants.end(), group.me) - participants.begin());
    const std::size_t first = at / max_fan_in * max_fan_in,
                      end = std::min(first + max_fan_in, participants.size());
    if (at != first) {
        FlagPair& flags = flags_with(round, participants[first]);
        flags.publish(partial.packed(), PartialResult::words);
        PeerWait answered(round, participants[first], [&flags] { return flags.observed(); });
        co_await comm::until(answered);
        partial = PartialResult::unpacked(participants[first], flags.payload(PartialResult::words));
        co_return;
    }
    std::vector<PartialResult> published{partial};
    for (std::size_t i = first + 1; i < end; ++i) {
        FlagPair& flags = flags_with(round, participants[i]);
        PeerWait requested(round, participants[i], [&flags] { return flags.requested(); });
        co_await comm::until(requested);
        published.push_back(
            PartialResult::unpacked(participants[i], flags.request_payload(PartialResult::words)));
        check_mismatch(round, combined(round, {partial, published.back()}));
    }
    PartialResult all = combined(round, published);
    Places leaders;
    for (std::size_t i = 0; i < participants.size(); i += max_fan_in)
        leaders.push_back(participants[i]);
    co_await settle(round, std::move(leaders), all);
    const std::vector<PartialResult> answers = answers_of(round, published, all);
    for (std::size_t i = first + 1; i < end; ++i)
        flags_with(round, participants[i])
            .publish(answers[i - first].packed(), PartialResult::words);
    partial = answers[0];
}

}  // namespace

comm::Protocol<> hierarchical_round(Round& round) {
    if (round.all) {
        co_await gather(round);
        co_return;
    }
    PartialResult partial{round.group->me, round.header.packed(),
                          round.value.empty() ? 0 : round.value[0]};
    co_await settle(round, round.group->nodes[round.group->my_node], partial);
    if (partial.mismatch) throw_mismatch(round, *partial.mismatch);
    check_sender(round, partial.member, partial.header);
    round.result = partial.value;
}

}  // namespace hocket::team
