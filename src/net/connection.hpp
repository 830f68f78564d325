// SPDX-License-Identifier: BSD-3-Clause
// Messages over a stream: a length, a kind and a body. Outgoing messages wait in a queue, so that
// the sender does not wait for the other side.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "net/bytes.hpp"
#include "net/stream.hpp"

namespace hocket::net {

struct Frame {
    std::uint8_t kind;
    std::span<const std::byte> body;  // good until the next call
};

class Connection {
  public:
    /// A frame that comes may have `longest` bytes. @throws Error later for one that has more.
    Connection(std::unique_ptr<Stream> stream, std::size_t longest);

    Stream& stream() { return *stream_; }
    /// Bytes as they are, before the first frame.
    void send_raw(Bytes bytes);
    /// The bytes that arrived behind the last received frame.
    std::span<const std::byte> arrived();
    void drop(std::size_t bytes);
    /// Reads what has come; false: nothing has. @throws Disconnected
    bool fill();

    /// `shared` follows `body` in the same frame, and stays where it is until it is sent.
    void send(std::uint8_t kind, std::span<const std::byte> body,
              std::shared_ptr<const void> owner = {}, std::span<const std::byte> shared = {});
    /// A descriptor of that file goes with the frame (Stream::write_with).
    void send_with(std::uint8_t kind, std::span<const std::byte> body,
                   std::shared_ptr<const void> owner, int file);
    /// True once nothing is left to send. Ends at that time (platform::seconds), or a little later.
    /// @throws Disconnected
    bool flush(double until = std::numeric_limits<double>::infinity());
    /// Whether the system took no byte the last time.
    bool full() const { return full_; }
    /// The next frame, if all of it has come. @throws Error, Disconnected
    std::optional<Frame> receive();

    std::size_t queued() const { return queued_; }
    /// Seconds since the other side last took a byte, while some wait for it.
    double stalled() const;

  private:
    struct Piece {
        Bytes own;
        std::shared_ptr<const void> owner;
        std::span<const std::byte> shared;
        int file = -1;
        std::span<const std::byte> bytes() const {
            return shared.empty() ? std::span(own) : shared;
        }
    };
    void queue(Piece piece);
    std::unique_ptr<Stream> stream_;
    std::size_t longest_;
    Bytes in_;
    std::size_t first_ = 0, consumed_ = 0, end_ = 0;
    std::deque<Piece> out_;
    std::size_t out_sent_ = 0, queued_ = 0;
    double moved_at_ = 0;
    bool full_ = false;
};

}  // namespace hocket::net
