// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net_messages.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/environment.hpp"
#include "hocket/error.hpp"
#include "hocket/memory.hpp"

namespace hocket::transport {
namespace {

// MPI visits all messages under way at each poll.
constexpr std::size_t most_under_way = 256;

// One piece out, one in, and a ring for a message within the node.
constexpr std::int64_t least_buffers = 4 * piece_bytes;
constexpr std::int64_t without_a_word = std::int64_t{256} << 20;

}  // namespace

void require_enough(std::int64_t max_buffer) {
    if (max_buffer < least_buffers)
        throw Error("max_buffer is " + std::to_string(max_buffer) +
                    " bytes, but messages travel in pieces of " + std::to_string(piece_bytes) +
                    "; give it " + std::to_string(least_buffers) + " (2 MiB) or more");
}

namespace {
const environment::ValidatedSetting checked_buffers([] { static_cast<void>(requested_buffers()); });
}

std::optional<std::int64_t> requested_buffers() {
    static const std::optional<std::int64_t> asked = [] {
        const auto given = environment::bytes("HOCKET_MAX_BUFFER");
        if (given && *given < least_buffers)
            throw Error("HOCKET_MAX_BUFFER is '" + *environment::value_of("HOCKET_MAX_BUFFER") +
                        "', but messages travel in pieces of 512 KiB; give 2M or more");
        return given;
    }();
    return asked;
}

std::int64_t default_buffers() {
    return requested_buffers().value_or(without_a_word);
}

NetMessages::NetMessages(Action action, const Direction& side, const Route& route,
                         std::int64_t most)
    : action_(action), route_(route), most_(most), side_(&side) {}

void NetMessages::rebind(const Direction& side) {
    side_ = &side;
    buffer_.reset();
    free_.clear();
}

void NetMessages::begin(const void* array, bool refusing) {
    refusing_ = refusing;
    array_ = static_cast<std::byte*>(const_cast<void*>(array));  // sends only read it
    order_.clear();
    next_ = 0;
    part_ = 0;
    begun_ = 0;
}

bool NetMessages::find_buffer(Piece& piece) {
    const std::int64_t slot = (side_->largest + 63) / 64 * 64;
    if (!buffer_) {
        const std::int64_t slots = std::max<std::int64_t>(most_ / slot, 1);
        buffer_ = allocate(each_has_its_own() ? side_->buffer : slots * slot);
        for (std::int64_t k = 0; !each_has_its_own() && k < slots; ++k) free_.push_back(k * slot);
    }
    if (each_has_its_own()) {
        piece.buffer_offset = side_->messages[piece.message].buffer_offset +
                              pieces_of(piece.message).begin(piece.part);
        return true;
    }
    if (free_.empty()) return false;
    piece.buffer_offset = free_.back();
    free_.pop_back();
    return true;
}

bool NetMessages::start_one(comm::Requests& requests) {
    if (next_ == order_.size() || under_way_.size() >= most_under_way) return false;
    const std::size_t i = order_[next_];
    const Chunks& pieces = pieces_of(i);
    const auto lies = pieces.together();
    Piece piece{begun_, i, part_, in_place};
    // A refusing process has no array: it sends empty pieces, and drops received ones.
    const bool empty = refusing_ && action_ == Action::out;
    const bool direct = lies && !refusing_;
    if (!direct && !empty && !find_buffer(piece)) return false;
    ++begun_;
    std::byte* const data = empty    ? nullptr
                            : direct ? array_ + *lies + pieces.begin(part_)
                                     : buffer_.get() + piece.buffer_offset;
    const std::int64_t bytes = pieces.bytes_of(part_);
    const int peer = route_.rank_of(side_->messages[i]), tag = route_.tag_of(side_->messages[i]);
    requests.begin_group(piece.number);
    if (action_ == Action::out) {
        if (!direct && !empty) pieces.run(part_, array_, data);
        route_.link->send(requests, data, bytes, peer, tag);
    } else {
        route_.link->receive(requests, data, bytes, peer, tag);
    }
    under_way_.push_back(piece);
    if (++part_ == pieces.size()) {
        part_ = 0;
        ++next_;
    }
    return true;
}

std::size_t NetMessages::done(std::uint64_t number, bool refused) {
    const auto it = std::find_if(under_way_.begin(), under_way_.end(),
                                 [&](const Piece& piece) { return piece.number == number; });
    const Piece piece = *it;
    *it = under_way_.back();
    under_way_.pop_back();
    if (piece.buffer_offset == in_place) return piece.message;
    if (action_ == Action::in && !refusing_ && !refused)
        pieces_of(piece.message).run(piece.part, buffer_.get() + piece.buffer_offset, array_);
    if (!each_has_its_own()) free_.push_back(piece.buffer_offset);
    return piece.message;
}

std::int64_t NetMessages::turn_of(std::size_t place) const {
    if (place == order_.size()) return std::numeric_limits<std::int64_t>::max();
    return side_->messages[order_[place]].turn;
}

std::int64_t NetMessages::first_turn() const {
    std::int64_t first = next_turn();
    for (const Piece& piece : under_way_)
        first = std::min(first, side_->messages[piece.message].turn);
    return first;
}

}  // namespace hocket::transport
