// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net_pieces.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "hocket/memory.hpp"

namespace hocket::transport {
namespace {

// MPI visits all messages under way at each poll.
constexpr std::size_t most_under_way = 256;

}  // namespace

NetPieces::NetPieces(bool sending, const std::vector<Message>& all, std::vector<std::size_t> which,
                     const Route& route, std::int64_t most)
    : sending_(sending), which_(std::move(which)), route_(route), most_(most) {
    rebind(all);
}

void NetPieces::rebind(const std::vector<Message>& all) {
    all_ = &all;
    all_bytes_ = all.empty() ? 0 : all.back().buffer_offset + in_lines(all.back().bytes);
    buffer_.reset();
    free_.clear();
}

void NetPieces::prepare() {
    if (!sending_) requests_.watch_lengths();
    for (const std::size_t i : which_) pieces_of(i);
}

void NetPieces::begin(std::byte* array, bool refusing, bool elements) {
    refusing_ = refusing;
    elements_ = elements;
    array_ = array;
    open_ = next_ = 0;
    part_ = begun_ = 0;
}

void NetPieces::open(std::size_t end) {
    while (open_ < which_.size() && which_[open_] < end) ++open_;
}

bool NetPieces::find_buffer(Piece& piece) {
    if (!buffer_) {
        std::int64_t largest = 0;
        for (const Message& each : *all_) largest = std::max(largest, each.largest_piece);
        const std::int64_t slot = in_lines(largest);
        const std::int64_t slots = std::max<std::int64_t>(most_ / slot, 1);
        buffer_ = allocate(each_has_its_own() ? all_bytes_ : slots * slot);
        for (std::int64_t k = 0; !each_has_its_own() && k < slots; ++k) free_.push_back(k * slot);
    }
    if (each_has_its_own()) {
        piece.buffer_offset =
            (*all_)[piece.message].buffer_offset + pieces_of(piece.message).begin(piece.part);
        return true;
    }
    if (free_.empty()) return false;
    piece.buffer_offset = free_.back();
    free_.pop_back();
    return true;
}

std::optional<std::int64_t> NetPieces::start_next() {
    if (next_ == open_ || under_way_.size() >= most_under_way) return std::nullopt;
    const std::size_t i = which_[next_];
    const Chunks& pieces = pieces_of(i);
    const auto lies = pieces.together();
    Piece piece{begun_, i, part_, in_place};
    // A refusing process has no array: it sends empty pieces, and drops received ones.
    const bool empty = refusing_ && sending_;
    const bool direct = lies && !refusing_;
    if (!direct && !empty && !find_buffer(piece)) return std::nullopt;
    ++begun_;
    std::byte* const data = empty    ? nullptr
                            : direct ? array_ + *lies + pieces.begin(part_)
                                     : buffer_.get() + piece.buffer_offset;
    const std::int64_t bytes = pieces.bytes_of(part_);
    const Message& message = (*all_)[i];
    requests_.begin_group(piece.number);
    if (sending_) {
        if (!direct && !empty) pieces.run(part_, array_, data);
        route_.link->send(requests_, data, bytes, route_.rank_of(message), route_.tag_of(message));
    } else {
        route_.link->receive(requests_, data, bytes, route_.rank_of(message),
                             route_.tag_of(message));
    }
    under_way_.push_back(piece);
    if (++part_ == pieces.size()) {
        part_ = 0;
        ++next_;
    }
    return direct || empty ? 0 : bytes;
}

void NetPieces::complete(const Piece& piece, bool empty) {
    const bool direct = piece.buffer_offset == in_place;
    if (!sending_ && !refusing_ && !empty) {
        const Chunks& pieces = pieces_of(piece.message);
        std::byte* const data = direct ? array_ + *pieces.together() + pieces.begin(piece.part)
                                       : buffer_.get() + piece.buffer_offset;
        if (elements_)
            route_.convert(route_.rank_of((*all_)[piece.message]), data,
                           pieces.bytes_of(piece.part));
        if (!direct) pieces.run(piece.part, data, array_);
    }
    if (direct) return;
    if (!each_has_its_own()) free_.push_back(piece.buffer_offset);
}

bool NetPieces::poll(std::vector<std::size_t>* whole, std::vector<std::size_t>* empty) {
    if (requests_.all_done()) return false;
    const auto numbers = requests_.newly_done();
    for (const std::uint64_t number : numbers) {
        const auto it = std::find_if(under_way_.begin(), under_way_.end(),
                                     [&](const Piece& piece) { return piece.number == number; });
        const Piece piece = *it;
        *it = under_way_.back();
        under_way_.pop_back();
        const auto& no_bytes = requests_.newly_empty();
        const bool is_empty = std::find(no_bytes.begin(), no_bytes.end(), number) != no_bytes.end();
        complete(piece, is_empty);
        if (is_empty && empty != nullptr) empty->push_back(piece.message);
        if (whole != nullptr && is_whole(piece.message)) whole->push_back(piece.message);
    }
    return !numbers.empty();
}

// Whether no piece of the message is left to start or to complete.
bool NetPieces::is_whole(std::size_t message) const {
    if (next_ < open_ && which_[next_] <= message) return false;
    return std::none_of(under_way_.begin(), under_way_.end(),
                        [&](const Piece& piece) { return piece.message == message; });
}

std::int64_t NetPieces::turn_of(std::size_t position) const {
    if (position == open_) return std::numeric_limits<std::int64_t>::max();
    return (*all_)[which_[position]].turn;
}

std::int64_t NetPieces::first_turn() const {
    std::int64_t first = next_turn();
    for (const Piece& piece : under_way_) first = std::min(first, (*all_)[piece.message].turn);
    return first;
}

}  // namespace hocket::transport
