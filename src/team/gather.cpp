// SPDX-License-Identifier: BSD-3-Clause
// All values on every process of several nodes: up to the leaders of the nodes, between them, and
// down again.
#include <algorithm>

#include "team/across.hpp"

namespace hocket::team {
namespace {

using comm::Protocol;
using Data = std::vector<std::uint64_t>;
using Places = std::vector<std::size_t>;

/// What processes have said that follow each other in their node, and their values.
struct Batch {
    Piece piece;
    Data values;
};

shm::Words cell_of(const Data& data, std::size_t at) {
    shm::Words cell{};
    const std::size_t count = std::min(shm::cell_words, data.size() - at);
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), count, cell.begin());
    return cell;
}

/// To my leader, a cell at a time, of which it asks for each but the first. A quarrel is an answer
/// to any.
Protocol<> pass(Round& round, std::size_t leader, const Batch& batch) {
    Talk& talk = talk_with(round, leader);
    const shm::Words first = batch.piece.packed();
    Data data(first.begin(), first.begin() + (batch.piece.quarrel ? quarrel_words : 1));
    if (!batch.piece.quarrel) data.insert(data.end(), batch.values.begin(), batch.values.end());
    for (std::size_t at = 0; at < data.size(); at += shm::cell_words) {
        if (at > 0) {
            Awaited wanted(round, leader, [&talk] { return talk.heard(); });
            co_await comm::until(wanted);
            if (talk.word(0) == in_quarrel) co_return;
        }
        talk.say(cell_of(data, at), shm::cell_words);
    }
}

/// What one that I lead passes, `count` values, joined to mine.
Protocol<> take(Round& round, std::size_t place, std::size_t count, Batch& mine) {
    Talk& talk = talk_with(round, place);
    for (std::size_t from = 1, left = count;; from = 0) {
        Awaited asked(round, place, [&talk] { return talk.asked(); });
        co_await comm::until(asked);
        const shm::Words cell = talk.question(shm::cell_words);
        if (from > 0) {
            Piece heard{place, cell[0]};
            if (cell[0] == in_quarrel) heard.quarrel = quarrel_in(cell);
            mine.piece = joined(round, {mine.piece, heard});
            heed(round, mine.piece);
            if (mine.piece.quarrel) co_return;
        }
        const std::size_t here = std::min(left, shm::cell_words - from);
        const auto* const values = cell.data() + from;
        mine.values.insert(mine.values.end(), values, values + here);
        left -= here;
        if (left == 0) co_return;
        talk.say({round.header.packed()}, 1);
    }
}

/// Values of the whole group, or a quarrel, to one that I lead, which asks for each cell.
Protocol<> answer(Round& round, std::size_t place, const Data& data) {
    Talk& talk = talk_with(round, place);
    for (std::size_t at = 0; at < data.size(); at += shm::cell_words) {
        Awaited asked(round, place, [&talk] { return talk.asked(); });
        co_await comm::until(asked);
        talk.say(cell_of(data, at), shm::cell_words);
        if (data[0] == in_quarrel) co_return;
    }
}

Protocol<Data> hear(Round& round, std::size_t leader, std::size_t words) {
    Talk& talk = talk_with(round, leader);
    Data data;
    for (;;) {
        Awaited answered(round, leader, [&talk] { return talk.heard(); });
        co_await comm::until(answered);
        const std::size_t count = std::min(shm::cell_words, words - data.size());
        const shm::Words said = talk.words(count);
        data.insert(data.end(), said.begin(), said.begin() + static_cast<std::ptrdiff_t>(count));
        // Else it is not the answer to what was asked.
        if (data[0] != round.header.packed() || data.size() == words) co_return data;
        talk.say({round.header.packed()}, 1);
    }
}

/// What all nodes have said: the header, or a quarrel, and the values of the group.
Protocol<Data> all_of(Round& round, const Batch& mine, std::size_t words) {
    const Group& group = *round.group;
    Packer out;
    pack(out, mine.piece);
    for (const std::uint64_t value : mine.values) out.number(static_cast<std::int64_t>(value));
    std::string text = out.take();
    const std::vector<std::string> texts = co_await between_nodes(round, std::move(text));
    std::vector<Piece> pieces;
    for (const std::string& each : texts) {
        Unpacker in(each);
        pieces.push_back(unpacked(in));
    }
    const Piece all = joined(round, pieces);
    Data data(quarrel_words + group.size() * words, 0);
    const shm::Words head = all.packed();
    std::copy_n(head.begin(), all.quarrel ? quarrel_words : 1, data.begin());
    for (std::size_t node = 0; node < texts.size() && !all.quarrel; ++node) {
        Unpacker in(texts[node]);
        static_cast<void>(unpacked(in));
        for (const std::size_t place : group.nodes[node])
            for (std::size_t i = 0; i < words; ++i)
                data[quarrel_words + place * words + i] = static_cast<std::uint64_t>(in.number());
    }
    co_return data;
}

}  // namespace

Protocol<> gather(Round& round) {
    const Group& group = *round.group;
    const std::size_t words = round.value.size();
    const Places& here = group.nodes[group.my_node];
    const auto at =
        static_cast<std::size_t>(std::find(here.begin(), here.end(), group.me) - here.begin());
    Batch mine{{group.me, round.header.packed()}, round.value};
    // Those I lead, then the leaders I lead, who speak for `step` processes each, and so on.
    std::size_t step = 1;
    for (; step < here.size() && at % (step * fan) == 0; step *= fan)
        for (std::size_t i = at + step; i < std::min(at + step * fan, here.size()); i += step)
            co_await take(round, here[i], std::min(step, here.size() - i) * words, mine);
    Data data;
    const std::size_t speaker = here[at == 0 ? 0 : at / (step * fan) * (step * fan)];
    if (at == 0) {
        data = co_await all_of(round, mine, words);
    } else {
        co_await pass(round, speaker, mine);
        data = co_await hear(round, speaker, quarrel_words + group.size() * words);
    }
    while (step > 1) {
        step /= fan;
        for (std::size_t i = at + step; i < std::min(at + step * fan, here.size()); i += step)
            co_await answer(round, here[i], data);
    }
    if (data[0] == in_quarrel) judge(round, quarrel_in(data));
    check_speaker(round, speaker, data[0]);
    round.values.assign(data.begin() + quarrel_words, data.end());
}

}  // namespace hocket::team
