// SPDX-License-Identifier: BSD-3-Clause
#include "net/connection.hpp"

#include <algorithm>
#include <string>

#include "base/platform.hpp"

namespace hocket::net {
namespace {

constexpr std::size_t frame_header = 5, at_once = std::size_t{256} << 10;
// Between two looks at the time, so that a write takes a few hundredths of a millisecond.
constexpr std::size_t most_written = std::size_t{64} << 10;

Bytes frame(std::uint8_t kind, std::span<const std::byte> body, std::size_t more) {
    Writer writer;
    writer.u32(static_cast<std::uint32_t>(body.size() + more)).u8(kind).raw(body);
    return {writer.bytes().begin(), writer.bytes().end()};
}

}  // namespace

Connection::Connection(std::unique_ptr<Stream> stream, std::size_t longest)
    : stream_(std::move(stream)), longest_(longest) {}

void Connection::queue(Piece piece) {
    if (out_.empty()) moved_at_ = platform::seconds();
    queued_ += piece.bytes().size();
    out_.push_back(std::move(piece));
}

void Connection::send_raw(Bytes bytes) {
    queue({std::move(bytes), {}, {}});
}

std::span<const std::byte> Connection::arrived() {
    drop(std::exchange(consumed_, 0));
    return std::span(in_).subspan(first_, end_ - first_);
}

void Connection::drop(std::size_t bytes) {
    first_ += bytes;
    if (first_ == end_) first_ = end_ = 0;
}

bool Connection::fill() {
    if (in_.size() - end_ < at_once) {
        std::copy(in_.begin() + static_cast<std::ptrdiff_t>(first_),
                  in_.begin() + static_cast<std::ptrdiff_t>(end_), in_.begin());
        end_ -= first_;
        first_ = 0;
        if (in_.size() - end_ < at_once) in_.resize(end_ + at_once);
    }
    const std::size_t got = stream_->read(std::span(in_).subspan(end_));
    end_ += got;
    return got > 0;
}

void Connection::send(std::uint8_t kind, std::span<const std::byte> body,
                      std::shared_ptr<const void> owner, std::span<const std::byte> shared) {
    send_raw(frame(kind, body, shared.size()));
    if (!shared.empty()) queue({{}, std::move(owner), shared});
}

void Connection::send_with(std::uint8_t kind, std::span<const std::byte> body,
                           std::shared_ptr<const void> owner, int file) {
    queue({frame(kind, body, 0), std::move(owner), {}, file});
}

bool Connection::flush(double until) {
    full_ = false;
    while (!out_.empty()) {
        if (platform::seconds() >= until) return false;
        const Piece& piece = out_.front();
        const auto left = piece.bytes().subspan(out_sent_);
        const auto bytes = left.first(std::min(left.size(), most_written));
        const std::size_t taken =
            bytes.empty() ? 0 : stream_->write_with(bytes, out_sent_ == 0 ? piece.file : -1);
        full_ = taken == 0 && !bytes.empty();
        if (full_) return false;
        moved_at_ = platform::seconds();
        queued_ -= taken;
        out_sent_ += taken;
        if (taken < left.size()) continue;
        out_.pop_front();
        out_sent_ = 0;
    }
    full_ = !stream_->flush();
    return !full_;
}

std::optional<Frame> Connection::receive() {
    for (;;) {
        const auto bytes = arrived();
        if (bytes.size() >= frame_header) {
            Reader reader(bytes);
            const std::size_t length = reader.length(longest_);
            const std::uint8_t kind = reader.u8();
            if (bytes.size() >= frame_header + length) {
                consumed_ = frame_header + length;
                return Frame{kind, bytes.subspan(frame_header, length)};
            }
        }
        if (!fill()) return std::nullopt;
    }
}

double Connection::stalled() const {
    return out_.empty() ? 0 : platform::seconds() - moved_at_;
}

}  // namespace hocket::net
