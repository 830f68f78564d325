// SPDX-License-Identifier: BSD-3-Clause
// The messages of one direction that travel by MPI: in pieces, through buffers of bounded size.
//
// Both sides divide a message alike, whatever its layout in memory, so that they need not agree on
// the size of their buffers. Pieces start in the order of the messages' turns on both sides.
// Invariant: the unfinished message with the lowest turn owns its buffers on both sides, because
// both sides release buffers in turn order. So one message can always proceed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/message.hpp"
#include "transport/route.hpp"

namespace hocket::transport {

/// The default bound on a transfer's buffers: HOCKET_MAX_BUFFER, or 256 MiB.
/// @throws Error for a value that is too small.
std::int64_t default_buffers();
/// The value of HOCKET_MAX_BUFFER, if it is set. @throws Error as default_buffers.
std::optional<std::int64_t> requested_buffers();
/// @throws Error for a bound that is too small.
void require_enough(std::int64_t max_buffer);

class NetMessages {
  public:
    enum class Action { out, in };
    /// `route` must live as long. `most`: bytes of buffers; one piece is always possible.
    NetMessages(Action action, const Direction& side, const Route& route, std::int64_t most);

    /// Sets the messages for an array with other strides; only while none is under way.
    void rebind(const Direction& side);
    /// Begins without messages; only while none is under way. `refusing`: receivers get no
    /// elements, and this process drops received ones.
    void begin(const void* array, bool refusing = false);
    /// Computes the copies of message `i` now.
    void prepare(std::size_t i) const { pieces_of(i); }
    /// Adds message `i` of the side, which travels by MPI. In the order of the side.
    void add(std::size_t i) { order_.push_back(i); }
    /// Its number of pieces.
    std::int64_t pieces(std::size_t i) const {
        return static_cast<std::int64_t>(pieces_of(i).size());
    }

    /// Starts the next piece (packs it, if necessary), as a group of `requests` with the piece's
    /// number; false if there is none, or no buffer for it now.
    bool start_one(comm::Requests& requests);
    /// Whether the last started piece was packed.
    bool packed() const { return under_way_.back().buffer_offset != in_place; }
    /// That piece has been sent or received; `refused`: without its elements. Returns its message.
    std::size_t done(std::uint64_t number, bool refused = false);
    /// The turn of the first message with pieces left to start, or to complete; if there is none,
    /// larger than any.
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
    std::uint64_t part_ = 0;          // its next piece
    std::uint64_t begun_ = 0;         // pieces of this start
    std::vector<Piece> under_way_;
    std::shared_ptr<std::byte> buffer_;
    std::vector<std::int64_t> free_;  // offsets of free buffers, if pieces share them
};

}  // namespace hocket::transport
