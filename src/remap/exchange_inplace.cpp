// SPDX-License-Identifier: BSD-3-Clause
#include "remap/exchange_inplace.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "comm/state.hpp"
#include "hocket/kernel.hpp"
#include "hocket/memory.hpp"
#include "kernel/swap.hpp"
#include "shm/mapping.hpp"

namespace hocket::remap {
namespace {

// Below this many bytes, telling where memory lies costs more than two copies.
constexpr std::int64_t swap_from = std::int64_t{1} << 15;

/// The two processes of a pair, seen from one of them.
struct Pair {
    comm::Link* link;
    int tag;   // of data; their replies have another
    int peer;  // rank
    bool first;
    std::byte* here;  // what is to be exchanged
    std::int64_t bytes;
    kernel::Runs runs;  // in which it lies
};

comm::Protocol<> exchange_words(Pair pair, const void* mine, void* theirs, std::int64_t bytes,
                                int tag) {
    comm::Requests requests;
    pair.link->receive(requests, theirs, bytes, pair.peer, tag);
    pair.link->send(requests, mine, bytes, pair.peer, tag);
    co_await comm::until(requests);
}

/// The half of the chunk that this process, or its peer, swaps.
void swap_half(const Pair& pair, std::byte* there, bool first_half, int threads) {
    const std::int64_t middle = pair.bytes / 2 / 64 * 64;
    kernel::swap(pair.here, there, pair.runs, first_half ? 0 : middle,
                 first_half ? middle : pair.bytes, threads);
}

/// Each of the two swaps one half, in the memory of both. A process that cannot map the other's
/// leaves its half to the other; gives false where neither can, and nothing has moved.
comm::Protocol<bool> swap_in_memory(Pair pair, int threads) {
    const shm::SharedAddress mine = shm::shared_address_of(pair.here);
    shm::SharedAddress theirs;
    co_await exchange_words(pair, &mine, &theirs, sizeof mine, pair.tag);
    const std::shared_ptr<std::byte> there = shm::map(theirs);
    const std::int64_t could = there != nullptr ? 1 : 0;
    if (could != 0) swap_half(pair, there.get(), pair.first, threads);
    std::int64_t peer_could = 0;
    co_await exchange_words(pair, &could, &peer_could, sizeof could,
                            comm::State::reply_tag(pair.tag));
    if (could == 0 && peer_could == 0) co_return false;
    if (could != 0 && peer_could != 0) co_return true;
    // One of the two does the other half, too; then both may go on.
    if (could != 0) swap_half(pair, there.get(), !pair.first, threads);
    std::int64_t nothing = 0, heard = 0;
    co_await exchange_words(pair, &nothing, &heard, sizeof nothing,
                            comm::State::reply_tag(pair.tag));
    co_return true;
}

/// What goes in one message: a part of a run, from where it lies, or several runs, packed.
class Pieces {
  public:
    explicit Pieces(const Pair& pair) : pair_(pair), packed_(2 * pair.runs.run <= exchange_half) {
        rows_ = pair.bytes / pair.runs.run;
        together_ = packed_ ? exchange_half / pair.runs.run : 1;
        in_run_ = packed_ ? 1 : base::ceil_div(pair.runs.run, exchange_piece);
    }

    std::int64_t count() const { return base::ceil_div(rows_, together_) * in_run_; }
    std::int64_t bytes(std::int64_t piece) const {
        if (packed_) return together(piece) * pair_.runs.run;
        return std::min(exchange_piece, pair_.runs.run - piece % in_run_ * exchange_piece);
    }
    std::byte* place(std::int64_t piece) const {
        return pair_.here + piece / in_run_ * together_ * pair_.runs.pitch +
               piece % in_run_ * exchange_piece;
    }
    /// What to send: runs are packed behind the half that is received into.
    const std::byte* outgoing(std::int64_t piece, std::byte* buffer) const {
        if (!packed_) return place(piece);
        copy(piece, pair_.runs.pitch, pair_.runs.run)
            .run(place(piece), buffer + exchange_half, 1, kernel::Stores::cached);
        return buffer + exchange_half;
    }
    void put(std::int64_t piece, const std::byte* buffer) const {
        copy(piece, pair_.runs.run, pair_.runs.pitch).run(buffer, place(piece));
    }

  private:
    static constexpr std::int64_t exchange_half = exchange_piece / 2;
    std::int64_t together(std::int64_t piece) const {
        return std::min(together_, rows_ - piece * together_);
    }
    kernel::Copy copy(std::int64_t piece, std::int64_t from, std::int64_t to) const {
        if (packed_)
            return {Shape{together(piece), pair_.runs.run}, 1, Shape{from, 1}, Shape{to, 1}};
        return {Shape{bytes(piece)}, 1, Shape{1}, Shape{1}};
    }
    const Pair& pair_;
    bool packed_;
    std::int64_t rows_, together_, in_run_;
};

/// Pieces go and come, two on their way at a time; what comes waits in a buffer until what it
/// replaces is gone.
comm::Protocol<> swap_by_messages(Pair pair, std::byte* buffer) {
    comm::Requests under_way[2];
    const Pieces pieces(pair);
    const auto buffer_of = [&](std::int64_t piece) { return buffer + piece % 2 * exchange_piece; };
    const auto start = [&](std::int64_t piece) {
        comm::Requests& requests = under_way[piece % 2];
        comm::Link& link = *pair.link;
        const std::int64_t bytes = pieces.bytes(piece);
        link.receive(requests, buffer_of(piece), bytes, pair.peer, pair.tag);
        link.send(requests, pieces.outgoing(piece, buffer_of(piece)), bytes, pair.peer, pair.tag);
    };
    const std::int64_t count = pieces.count();
    for (std::int64_t piece = 0; piece < std::min<std::int64_t>(count, 2); ++piece) start(piece);
    for (std::int64_t piece = 0; piece < count; ++piece) {
        co_await comm::until(under_way[piece % 2]);
        pieces.put(piece, buffer_of(piece));
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

/// After the pairs have exchanged what is common, every chunk is where the one of the same member
/// was sent from: brings all to where they belong, leaving out the surpluses that have gone, with
/// gaps for those that are to come.
void settle(std::byte* array, const std::vector<std::int64_t>& common,
            const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
    if (from == to) return;
    const std::vector<std::int64_t> close = offsets(common);
    for (std::size_t q = 0; q < common.size(); ++q) move_bytes(array, close[q], from[q], common[q]);
    for (std::size_t q = common.size(); q-- > 0;) move_bytes(array, to[q], close[q], common[q]);
}

}  // namespace

int partner_in_round(int own, int players, int round) {
    // One player stays in the middle of the circle, and the others turn around it; with an odd
    // number the place in the middle is empty.
    const int circle = players - 1 + players % 2;
    int partner = 0;
    if (own == circle)
        partner = static_cast<int>(std::int64_t{round} * ((circle + 1) / 2) % circle);
    else
        partner = (round - own + circle) % circle;
    if (partner == own) partner = circle;
    return partner < players ? partner : -1;
}

comm::Protocol<> exchange_inplace(comm::Link& link, int tag, const Exchange& exchange,
                                  std::byte* array, int threads) {
    const std::size_t players = exchange.members.size();
    auto from = offsets(exchange.sends), to = offsets(exchange.receives);
    if (exchange.rows > 1)
        for (std::size_t q = 0; q < players; ++q) from[q] = to[q] = from[q] / exchange.rows;
    std::vector<std::int64_t> common(players);
    for (std::size_t q = 0; q < players; ++q)
        common[q] = std::min(exchange.sends[q], exchange.receives[q]);

    std::shared_ptr<std::byte> buffer;
    for (int round = 0; round < rounds(static_cast<int>(players)); ++round) {
        const int partner =
            partner_in_round(static_cast<int>(exchange.own), static_cast<int>(players), round);
        if (partner < 0) continue;
        const auto q = static_cast<std::size_t>(partner);
        if (common[q] == 0) continue;
        const std::int64_t run = common[q] / exchange.rows;
        const Pair pair{&link,
                        tag,
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
        co_await swap_by_messages(pair, buffer.get());
    }

    // What a member has beyond what is common lies behind that.
    const auto each_surplus = [&](const std::vector<std::int64_t>& sizes,
                                  const std::vector<std::int64_t>& at, auto start) {
        for (std::size_t q = 0; q < players; ++q) {
            const std::int64_t bytes = sizes[q] - common[q];
            if (bytes > 0) start(array + at[q] + common[q], bytes, exchange.members[q]);
        }
    };
    comm::Requests surplus_out;
    each_surplus(exchange.sends, from, [&](std::byte* data, std::int64_t bytes, int member) {
        link.send(surplus_out, data, bytes, member, tag);
    });
    co_await comm::until(surplus_out);
    settle(array, common, from, to);
    comm::Requests surplus_in;
    each_surplus(exchange.receives, to, [&](std::byte* data, std::int64_t bytes, int member) {
        link.receive(surplus_in, data, bytes, member, tag);
    });
    co_await comm::until(surplus_in);
}

}  // namespace hocket::remap
