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
// Sends are at most so many turns ahead of the receives. So in an all-to-all few messages of a
// process share links and queues, and receives are posted before their messages arrive.
constexpr std::int64_t send_window = 16;

}  // namespace

NetPieces::NetPieces(bool sending, const Schedule& schedule, std::vector<std::size_t> which,
                     const Route& route, std::int64_t most, const NetPieces* receives)
    : sending_(sending), which_(std::move(which)), route_(route), receives_(receives), most_(most) {
    rebind(schedule);
}

void NetPieces::rebind(const Schedule& schedule) {
    all_ = sending_ ? &schedule.sends : &schedule.receives;
    all_bytes_ = all_->empty() ? 0 : all_->back().buffer_offset + in_lines(all_->back().bytes);
    buffer_.reset();
    free_.clear();
}

void NetPieces::connect() {
    if (!sending_) requests_.watch_lengths();
    for (const std::size_t i : which_) pieces_of(i);
}

void NetPieces::begin(ScheduleRun& run) {
    run_ = &run;
    // Sends only read their array.
    array_ = sending_ ? const_cast<std::byte*>(run.sent_from()) : run.received_into();
    next_ = 0;
    open_ = sending_ ? 0 : which_.size();
    part_ = begun_ = 0;
    while (!sending_ && start_piece()) {
    }
}

void NetPieces::send(std::size_t end) {
    while (sending_ && open_ < which_.size() && which_[open_] < end) ++open_;
}

// Never delays the message of the lowest turn that has not arrived, because its sender has received
// all messages of lower turns.
bool NetPieces::window_full() const {
    const std::int64_t next = next_turn();
    return next >= send_window && receives_ != nullptr &&
           receives_->first_turn() <= next - send_window;
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
    return sending_ && !window_full() ? start_piece() : std::nullopt;
}

std::optional<std::int64_t> NetPieces::start_piece() {
    if (next_ == open_ || under_way_.size() >= most_under_way) return std::nullopt;
    const std::size_t i = which_[next_];
    const Chunks& pieces = pieces_of(i);
    const auto lies = pieces.together();
    Piece piece{begun_, i, part_, in_place};
    // A refusing process has no array: it sends empty pieces, and drops received ones.
    const bool empty = run_->withholds() && sending_;
    const bool direct = lies && !run_->withholds();
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
    if (!sending_ && !run_->withholds() && !empty) {
        const Chunks& pieces = pieces_of(piece.message);
        std::byte* const data = direct ? array_ + *pieces.together() + pieces.begin(piece.part)
                                       : buffer_.get() + piece.buffer_offset;
        if (run_->scratch == nullptr)  // else whoever reads the elements converts them
            route_.convert(route_.rank_of((*all_)[piece.message]), data,
                           pieces.bytes_of(piece.part));
        if (!direct) pieces.run(piece.part, data, array_);
    }
    if (!direct && !each_has_its_own()) free_.push_back(piece.buffer_offset);
    if (sending_) return;
    if (empty) run_->refused.push_back(piece.message);
    if (run_->scratch != nullptr && is_whole(piece.message))
        run_->received.push_back(piece.message);
}

bool NetPieces::poll() {
    bool any = false;
    if (!requests_.all_done()) {
        for (const std::uint64_t number : requests_.newly_done()) {
            const auto it = std::find_if(under_way_.begin(), under_way_.end(),
                                         [&](const Piece& each) { return each.number == number; });
            const Piece piece = *it;
            *it = under_way_.back();
            under_way_.pop_back();
            const auto& no_bytes = requests_.newly_empty();
            const bool empty =
                std::find(no_bytes.begin(), no_bytes.end(), number) != no_bytes.end();
            complete(piece, empty);
            any = true;
        }
    }
    if (sending_) return false;
    while (start_piece()) any = true;
    return any;
}

// Whether no piece of the message is left to start or to complete.
bool NetPieces::is_whole(std::size_t message) const {
    if (next_ < open_ && which_[next_] <= message) return false;
    return std::none_of(under_way_.begin(), under_way_.end(),
                        [&](const Piece& piece) { return piece.message == message; });
}

std::int64_t NetPieces::next_turn() const {
    return next_ == open_ ? std::numeric_limits<std::int64_t>::max() : (*all_)[which_[next_]].turn;
}

std::int64_t NetPieces::first_turn() const {
    std::int64_t first = next_turn();
    for (const Piece& piece : under_way_) first = std::min(first, (*all_)[piece.message].turn);
    return first;
}

}  // namespace hocket::transport
