// SPDX-License-Identifier: BSD-3-Clause
// The messages of one direction that a link carries, by MPI between nodes, by a stream of bytes to
// another job: in pieces, through buffers of bounded size.
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

#include "comm/requests.hpp"
#include "transport/transport.hpp"

namespace hocket::transport {

class NetPieces final : public Transport {
  public:
    /// The messages `which` of a schedule's sends, or of its receives, in the order of their turns.
    /// `route` and `receives` must live as long. `most`: bytes of buffers; one piece is always
    /// possible. Sends may precede the `receives` of the same run by few turns only.
    NetPieces(bool sending, const Schedule& schedule, std::vector<std::size_t> which,
              const Route& route, std::int64_t most, const NetPieces* receives = nullptr);

    /// Computes the copies of all messages now. From here on notices empty pieces.
    void connect() override;
    bool connected() override { return true; }
    void rebind(const Schedule& schedule) override;
    void begin(ScheduleRun& run) override;
    void send(std::size_t end) override;
    std::optional<std::int64_t> start_next() override;
    bool poll() override;
    bool finished() override {
        return next_ == open_ && under_way_.empty() && requests_.all_done();
    }
    /// Requests end with this object; the other ends learn it from the link, or from a deadline.
    void abort(const std::string&) override {}

  private:
    struct Piece {
        std::uint64_t number;
        std::size_t message;
        std::uint64_t part;
        std::int64_t buffer_offset;
    };
    static constexpr std::int64_t in_place = -1;
    bool window_full() const;
    // Starts the next piece of the open messages, and packs it if necessary. Returns the packed
    // bytes; nothing if there is no piece, or no buffer for it now.
    std::optional<std::int64_t> start_piece();
    bool find_buffer(Piece& piece);
    void complete(const Piece& piece, bool empty);
    bool is_whole(std::size_t message) const;
    const Chunks& pieces_of(std::size_t i) const {
        return (*all_)[i].cut(sending_ ? Chunks::Kind::packing : Chunks::Kind::unpacking,
                              piece_bytes);
    }
    // The turn of the first message with pieces left to start, or to complete; if there is none,
    // larger than any.
    std::int64_t next_turn() const;
    std::int64_t first_turn() const;
    bool each_has_its_own() const { return all_bytes_ <= most_; }

    bool sending_;
    const std::vector<Message>* all_ = nullptr;
    std::vector<std::size_t> which_;
    const Route& route_;
    const NetPieces* receives_;
    std::int64_t most_;
    std::int64_t all_bytes_ = 0;  // of buffers, if each message has its own
    std::byte* array_ = nullptr;
    ScheduleRun* run_ = nullptr;
    std::size_t open_ = 0, next_ = 0;  // positions in which_: the next piece belongs to next_
    std::uint64_t part_ = 0;           // the number of that piece in its message
    std::uint64_t begun_ = 0;          // pieces of this run
    std::vector<Piece> under_way_;
    std::shared_ptr<std::byte> buffer_;
    std::vector<std::int64_t> free_;  // offsets of free buffers, if pieces share them
    comm::Requests requests_;         // last, so that they end before their buffers
};

}  // namespace hocket::transport
