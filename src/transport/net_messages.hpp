// SPDX-License-Identifier: BSD-3-Clause
// The messages of one direction that travel by MPI: in pieces, through buffers of bounded size.
//
// Both sides cut a message alike, wherever its elements lie, so that they need not agree on how
// much memory either spends. Pieces start in the order of the messages' turns, which both sides
// keep: of all messages that are not done, the one with the lowest turn has everything before it
// behind it on either side, so it has its buffers, and the transfer goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/message.hpp"
#include "transport/route.hpp"

namespace hocket::transport {

/// What a transfer may spend on buffers where its call does not say: HOCKET_MAX_BUFFER, or 256 MiB.
/// @throws Error for a variable that says less than can work.
std::int64_t default_buffers();
/// What HOCKET_MAX_BUFFER says, if it is set. @throws likewise.
std::optional<std::int64_t> requested_buffers();
/// @throws Error for a bound that is less than can work.
void require_enough(std::int64_t max_buffer);

class NetMessages {
  public:
    enum class Action { out, in };
    /// `route` must live as long. `most`: bytes of buffers; one piece is always possible.
    NetMessages(Action action, const Direction& side, const Route& route, std::int64_t most);

    /// The same messages for an array of other strides; only when all is done.
    void rebind(const Direction& side);
    /// Begins with no message; only when all is done. `refusing`: whoever receives learns that no
    /// elements come, and what comes is dropped.
    void begin(const void* array, bool refusing = false);
    /// Finds now what message `i` copies from where.
    void prepare(std::size_t i) const { pieces_of(i); }
    /// Message `i` of the side travels by MPI, too. In the order of the side.
    void add(std::size_t i) { order_.push_back(i); }
    /// How many pieces it has.
    std::int64_t pieces(std::size_t i) const {
        return static_cast<std::int64_t>(pieces_of(i).size());
    }

    /// Starts the next piece (packs it, if it is to be packed), as a group of `requests` with the
    /// piece's number; false if there is none, or no room for it now.
    bool start_one(comm::Requests& requests);
    /// Whether the one just started was packed.
    bool packed() const { return under_way_.back().buffer_offset != in_place; }
    /// That piece has gone or come; `refused`: without its elements. Gives its message.
    std::size_t done(std::uint64_t number, bool refused = false);
    /// The turn of the first message of which something is left to start, or to start or end: where
    /// nothing is, later than any.
    std::int64_t next_turn() const { return turn_of(next_); }
    std::int64_t first_turn() const;
    bool finished() const { return next_ == order_.size() && under_way_.empty(); }

  private:
    struct Piece {
        std::uint64_t number;
        std::size_t message;
        std::uint64_t part;
        std::int64_t buffer_offset;
    };
    static constexpr std::int64_t in_place = -1;
    bool find_buffer(Piece& piece);
    const Chunks& pieces_of(std::size_t i) const {
        return side_->messages[i].cut(
            action_ == Action::out ? Chunks::Kind::packing : Chunks::Kind::unpacking, piece_bytes);
    }
    std::int64_t turn_of(std::size_t place) const;
    bool each_has_its_own() const { return side_->buffer <= most_; }

    Action action_;
    const Route& route_;
    std::int64_t most_;
    const Direction* side_;
    std::byte* array_ = nullptr;
    bool refusing_ = false;
    std::vector<std::size_t> order_;  // messages of this start
    std::size_t next_ = 0;            // the message of the next piece, in order_
    std::uint64_t part_ = 0;          // the next piece of it
    std::uint64_t begun_ = 0;         // pieces of this start
    std::vector<Piece> under_way_;
    std::shared_ptr<std::byte> buffer_;
    std::vector<std::int64_t> free_;  // offsets of free buffers, where pieces share them
};

}  // namespace hocket::transport
