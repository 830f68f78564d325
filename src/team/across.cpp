// SPDX-License-Identifier: BSD-3-Clause
// Rounds by leaders. Up to 16 processes of a node ask one of them, which is their leader; leaders
// have leaders, until few enough are left to tell each other everything. Between nodes one leader
// of each exchanges messages with the others (Bruck, Ho, Kipnis, Upfal, Weathersby: "Efficient
// algorithms for all-to-all communications in multiport message-passing systems", IEEE TPDS 8,
// 1997: all-gather in ceil(log2 n) rounds). Then the answers go back: what all fold to, or, in a
// scan, what those up to each do.
#include "team/across.hpp"

#include <algorithm>

namespace hocket::team {
namespace {

using comm::Protocol;
using Places = std::vector<std::size_t>;

/// The next message of that process.
Protocol<std::string> receive(Round& round, std::size_t place) {
    comm::Link& link = round.root->link();
    const int rank = round.group->process(place);
    for (;;) {
        std::optional<comm::Arrival> arrival;
        Awaited come(round, place, [&] {
            if (!arrival) arrival = link.probe(rank, round.root->data_tag());
            return arrival.has_value();
        });
        co_await comm::until(come);
        comm::Letter heard =
            co_await comm::receive_text(link, std::move(*arrival), round.root->data_tag());
        if (Unpacker(heard.text).number() == round.root->number()) co_return std::move(heard.text);
    }
}

}  // namespace

Talk& talk_with(const Round& round, std::size_t place) {
    return *round.group->members[place].talk;
}

void heed(const Round& round, const Piece& piece) {
    if (piece.quarrel && parted(*round.group, *piece.quarrel)) judge(round, *piece.quarrel);
}

void check_speaker(const Round& round, std::size_t place, std::uint64_t header) {
    if (header == round.header.packed()) return;
    const Group& group = *round.group;
    judge(round, {static_cast<std::uint64_t>(group.process(place)), header,
                  static_cast<std::uint64_t>(group.process(group.me)), round.header.packed()});
}

void pack(Packer& out, const Piece& piece) {
    out.number(static_cast<std::int64_t>(piece.place));
    for (const std::uint64_t word : piece.packed()) out.number(static_cast<std::int64_t>(word));
}

Piece unpacked(Unpacker& in) {
    const auto place = static_cast<std::size_t>(in.number());
    shm::Words words{};
    for (std::uint64_t& word : words) word = static_cast<std::uint64_t>(in.number());
    return Piece::unpacked(place, words);
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
        const std::string said = out.take();
        comm::Requests sending;
        link.send_text(sending, said, group.process(group.nodes[to][0]), round.root->data_tag());

        const std::size_t speaker = group.nodes[from][0];
        const std::string heard = co_await receive(round, speaker);
        co_await comm::until(sending);

        Unpacker in(heard);
        in.number();  // the root team's
        const auto header = static_cast<std::uint64_t>(in.number());
        Quarrel quarrel{static_cast<std::uint64_t>(group.process(group.me)), round.header.packed(),
                        static_cast<std::uint64_t>(group.process(speaker)), header};
        if (speaker < group.me)
            quarrel = {quarrel.high_process, quarrel.high, quarrel.low_process, quarrel.low};
        if (quarrel.groups_differ()) judge(round, quarrel);
        for (std::size_t i = 0; i < count; ++i) texts[(from + i) % nodes] = in.text();
    }
    co_return texts;
}

namespace {

/// What my node is told, from what all have said.
Protocol<> settle_between_nodes(Round& round, Piece& piece) {
    Packer out;
    pack(out, piece);
    std::string mine = out.take();
    const std::vector<std::string> texts = co_await between_nodes(round, std::move(mine));
    std::vector<Piece> said;
    for (const std::string& text : texts) {
        Unpacker in(text);
        said.push_back(unpacked(in));
    }
    piece = told(round, said, joined(round, said))[round.group->my_node];
}

/// What I am told, from what I have said: `who`, in order, are those of my node who take part, and
/// I am one.
Protocol<> settle(Round& round, Places who, Piece& piece) {
    const Group& group = *round.group;
    if (group.nodes.size() == 1 && who.size() <= fan) {
        const shm::Words cell = piece.packed();
        for (const std::size_t place : who)
            if (place != group.me) talk_with(round, place).say(cell, Piece::words);
        std::vector<Piece> said;
        std::size_t at = 0;
        for (const std::size_t place : who) {
            if (place == group.me) {
                at = said.size();
                said.push_back(piece);
                continue;
            }
            Talk& talk = talk_with(round, place);
            Awaited come(round, place, [&talk] { return talk.heard(); });
            co_await comm::until(come);
            said.push_back(Piece::unpacked(place, talk.words(Piece::words)));
            heed(round, joined(round, {piece, said.back()}));
        }
        piece = told(round, said, joined(round, said))[at];
        co_return;
    }
    if (who.size() == 1) {
        co_await settle_between_nodes(round, piece);
        co_return;
    }
    const auto at =
        static_cast<std::size_t>(std::find(who.begin(), who.end(), group.me) - who.begin());
    const std::size_t first = at / fan * fan, end = std::min(first + fan, who.size());
    if (at != first) {
        Talk& talk = talk_with(round, who[first]);
        talk.say(piece.packed(), Piece::words);
        Awaited answered(round, who[first], [&talk] { return talk.heard(); });
        co_await comm::until(answered);
        piece = Piece::unpacked(who[first], talk.words(Piece::words));
        co_return;
    }
    std::vector<Piece> said{piece};
    for (std::size_t i = first + 1; i < end; ++i) {
        Talk& talk = talk_with(round, who[i]);
        Awaited asked(round, who[i], [&talk] { return talk.asked(); });
        co_await comm::until(asked);
        said.push_back(Piece::unpacked(who[i], talk.question(Piece::words)));
        heed(round, joined(round, {piece, said.back()}));
    }
    Piece all = joined(round, said);
    Places leaders;
    for (std::size_t i = 0; i < who.size(); i += fan) leaders.push_back(who[i]);
    co_await settle(round, std::move(leaders), all);
    const std::vector<Piece> answers = told(round, said, all);
    for (std::size_t i = first + 1; i < end; ++i)
        talk_with(round, who[i]).say(answers[i - first].packed(), Piece::words);
    piece = answers[0];
}

}  // namespace

comm::Protocol<> by_leaders(Round& round) {
    if (round.all) {
        co_await gather(round);
        co_return;
    }
    Piece piece{round.group->me, round.header.packed(), round.value.empty() ? 0 : round.value[0]};
    co_await settle(round, round.group->nodes[round.group->my_node], piece);
    if (piece.quarrel) judge(round, *piece.quarrel);
    check_speaker(round, piece.place, piece.header);
    round.result = piece.value;
}

}  // namespace hocket::team
