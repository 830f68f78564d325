// SPDX-License-Identifier: BSD-3-Clause
#include "remap/exchange_inplace.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "comm/state.hpp"
#include "hocket/kernel.hpp"
#include "hocket/memory.hpp"
#include "kernel/swap.hpp"
#include "shm/mapping.hpp"
#include "transfer/cut.hpp"
#include "transfer/executor.hpp"

namespace hocket::remap {
namespace {

// For fewer bytes, the exchange of addresses costs more than two copies.
constexpr std::int64_t swap_from = std::int64_t{1} << 15;

/// The two processes of a pair, as one of them sees them. They exchange a chunk in pieces, each a
/// part of a run, or several runs.
struct ExchangePair {
    const transport::Route* route;
    const RemapStage* exchange;
    int peer;  // rank
    bool first;
    std::byte* here;  // the chunk to exchange
    std::int64_t bytes;
    kernel::Runs runs;  // of the chunk

    std::int64_t rows() const { return bytes / runs.run; }
    std::int64_t rows_together() const {
        return std::max<std::int64_t>(exchange_piece / 2 / runs.run, 1);
    }
    std::int64_t pieces_of_run() const { return base::ceil_div(runs.run, exchange_piece); }
    std::int64_t pieces() const {
        return base::ceil_div(rows(), rows_together()) * pieces_of_run();
    }
    std::int64_t rows_of(std::int64_t piece) const {
        return std::min(rows_together(), rows() - piece / pieces_of_run() * rows_together());
    }
    std::int64_t run_of(std::int64_t piece) const {  // bytes
        return std::min(exchange_piece, runs.run - piece % pieces_of_run() * exchange_piece);
    }
    std::byte* position(std::int64_t piece) const {
        return here + piece / pieces_of_run() * rows_together() * runs.pitch +
               piece % pieces_of_run() * exchange_piece;
    }
};

/// Texts within a node are no MPI messages.
template <class Word>
comm::Protocol<Word> exchange_words(ExchangePair pair, Word mine) {
    std::string text(sizeof mine, '\0');
    std::memcpy(text.data(), &mine, sizeof mine);
    co_await comm::send_text(*pair.route->link, std::move(text), pair.peer, pair.route->data_tag);
    const comm::TextMessage answer =
        co_await comm::receive_text(*pair.route->link, pair.peer, pair.route->data_tag);
    std::memcpy(&mine, answer.text.data(), sizeof mine);
    co_return mine;
}

/// Swaps the half of the chunk that belongs to this process, or to its peer.
void swap_half(const ExchangePair& pair, std::byte* there, bool first_half, int threads) {
    const std::int64_t middle = pair.bytes / 2 / 64 * 64;
    kernel::swap(pair.here, there, pair.runs, first_half ? 0 : middle,
                 first_half ? middle : pair.bytes, threads);
}

/// Each of the two swaps one half, in the memory of both. A process that cannot map the other's
/// leaves its half to the other; gives false if neither can, and nothing has moved.
comm::Protocol<bool> swap_in_memory(ExchangePair pair, int threads) {
    const shm::SharedAddress theirs =
        co_await exchange_words(pair, shm::shared_address_of(pair.here));
    const std::shared_ptr<std::byte> there = shm::map(theirs);
    const bool could = there != nullptr;
    if (could) swap_half(pair, there.get(), pair.first, threads);
    const bool peer_could = co_await exchange_words(pair, could);
    if (could == peer_could) co_return could;
    // One of the two swaps the other half, too; then both may continue.
    if (could) swap_half(pair, there.get(), !pair.first, threads);
    static_cast<void>(co_await exchange_words(pair, could));
    co_return true;
}

/// From the position of a piece to a buffer.
std::shared_ptr<const transfer::Schedule> schedule_of(const ExchangePair& pair,
                                                      std::int64_t piece) {
    const std::int64_t rows = pair.rows_of(piece), run = pair.run_of(piece),
                       pitch = pair.runs.pitch;
    auto& made = pair.exchange->schedules[{rows, run, pitch}];
    if (made) return made;
    auto schedule = std::make_shared<transfer::Schedule>();
    const plan::Box box{{0, 0}, {0, 0}, {{rows, 0, 1, 0, 1}, {run, 1, 1, 1, 1}}};
    for (auto* side : {&schedule->sends, &schedule->receives}) {
        side->push_back(transfer::message_of({{box}, 1, {pitch, 1}, {run, 1}}, 0, 0, true));
        transfer::put_in_order(*side, 1);
    }
    return made = schedule;
}

void put(const ExchangePair& pair, std::int64_t piece, const std::byte* buffer) {
    const std::int64_t run = pair.run_of(piece);
    kernel::Copy(Shape{pair.rows_of(piece), run}, 1, Shape{run, 1}, Shape{pair.runs.pitch, 1})
        .run(buffer, pair.position(piece));
}

/// Two pieces are in transit. A piece that arrives stays in a buffer until the piece that it
/// replaces is gone.
comm::Protocol<> exchange_pieces(ExchangePair pair, std::byte* buffer) {
    transfer::Stopwatch watch(nullptr);
    std::optional<transfer::Executor> under_way[2];
    const std::int64_t count = pair.pieces();
    const auto buffer_of = [&](std::int64_t piece) { return buffer + piece % 2 * exchange_piece; };
    const auto start = [&](std::int64_t piece) {
        const int tag = pair.route->data_tag;
        transport::Route route{pair.route->link, {pair.peer}, {pair.peer}};
        route.data_tag = piece % 2 == 0 ? tag : comm::State::reply_tag(tag);
        route.call = pair.route->call;
        under_way[piece % 2].emplace(schedule_of(pair, piece), std::move(route), watch);
        under_way[piece % 2]->start(pair.position(piece), buffer_of(piece));
    };
    for (std::int64_t piece = 0; piece < std::min<std::int64_t>(count, 2); ++piece) start(piece);
    for (std::int64_t piece = 0; piece < count; ++piece) {
        comm::When done([&] {
            if (piece + 1 < count) under_way[(piece + 1) % 2]->poll();
            return under_way[piece % 2]->poll();
        });
        co_await comm::until(done);
        put(pair, piece, buffer_of(piece));
        if (piece + 2 < count) start(piece + 2);
    }
}

std::vector<std::int64_t> offsets(const std::vector<std::int64_t>& sizes) {
    std::vector<std::int64_t> out;
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) {
        out.push_back(sum);
        sum += size;
    }
    return out;
}

void move_bytes(std::byte* array, std::int64_t to, std::int64_t from, std::int64_t bytes) {
    if (to != from) std::memmove(array + to, array + from, static_cast<std::size_t>(bytes));
}

/// After the exchange of the pairs, the chunk of each member lies where the one for it lay. Moves
/// all chunks to their final positions, over the surpluses that have gone, with gaps for those that
/// will come.
void settle(std::byte* array, const std::vector<std::int64_t>& common,
            const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
    if (from == to) return;
    const std::vector<std::int64_t> close = offsets(common);
    for (std::size_t q = 0; q < common.size(); ++q) move_bytes(array, close[q], from[q], common[q]);
    for (std::size_t q = common.size(); q-- > 0;) move_bytes(array, to[q], close[q], common[q]);
}

}  // namespace

int partner_in_round(int own, int players, int round) {
    // One player stays in the middle of the circle, and the others rotate around it; with an odd
    // number the position in the middle is empty.
    const int circle = players - 1 + players % 2;
    int partner = 0;
    if (own == circle)
        partner = static_cast<int>(std::int64_t{round} * ((circle + 1) / 2) % circle);
    else
        partner = (round - own + circle) % circle;
    if (partner == own) partner = circle;
    return partner < players ? partner : -1;
}

comm::Protocol<> exchange_inplace(comm::Link& link, int tag, std::int64_t number,
                                  const RemapStage& exchange, std::byte* array, int threads) {
    const std::size_t players = exchange.members.size();
    auto from = offsets(exchange.sends), to = offsets(exchange.receives);
    if (exchange.rows > 1)
        for (std::size_t q = 0; q < players; ++q) from[q] = to[q] = from[q] / exchange.rows;
    std::vector<std::int64_t> common(players);
    for (std::size_t q = 0; q < players; ++q)
        common[q] = std::min(exchange.sends[q], exchange.receives[q]);
    const transport::Route route{&link, exchange.members, exchange.members, tag, number};

    std::shared_ptr<std::byte> buffer;
    for (int round = 0; round < rounds(static_cast<int>(players)); ++round) {
        const int partner =
            partner_in_round(static_cast<int>(exchange.own), static_cast<int>(players), round);
        if (partner < 0) continue;
        const auto q = static_cast<std::size_t>(partner);
        if (common[q] == 0) continue;
        const std::int64_t run = common[q] / exchange.rows;
        const ExchangePair pair{&route,
                                &exchange,
                                exchange.members[q],
                                exchange.own < q,
                                array + from[q],
                                common[q],
                                {run, run * static_cast<std::int64_t>(players)}};
        bool done = false;
        if (common[q] >= swap_from && link.in_node(pair.peer))
            done = co_await swap_in_memory(pair, threads);
        if (done) continue;
        if (!buffer) buffer = allocate(exchange_buffer);
        co_await exchange_pieces(pair, buffer.get());
    }

    // The surplus of a member lies behind the bytes that both have.
    const auto add = [&](std::vector<transport::Message>& side,
                         const std::vector<std::int64_t>& sizes,
                         const std::vector<std::int64_t>& at, bool sending) {
        for (std::size_t q = 0; q < players; ++q)
            if (sizes[q] > common[q])
                side.push_back(transfer::message_of(at[q] + common[q], sizes[q] - common[q],
                                                    sending, static_cast<std::int64_t>(q), 0));
    };
    const auto out = std::make_shared<transfer::Schedule>(),
               in = std::make_shared<transfer::Schedule>();
    add(out->sends, exchange.sends, from, true);
    add(in->receives, exchange.receives, to, false);
    transfer::Stopwatch watch(nullptr);
    if (!out->sends.empty()) co_await transfer::run(out, array, nullptr, route, watch);
    settle(array, common, from, to);
    if (!in->receives.empty()) co_await transfer::run(in, nullptr, array, route, watch);
}

}  // namespace hocket::remap
