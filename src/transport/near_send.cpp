// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "transport/ends.hpp"
#include "transport/near.hpp"

namespace hocket::transport {

using shm::Words;

std::int64_t slot_bytes(const Message& message) {
    return is_short(message) && !in_words(message) ? slot_for(message.bytes) : 0;
}
std::int64_t bytes_packed(const Message& message) {
    return slot_bytes(message) * static_cast<std::int64_t>(short_slots);
}

NearSend::NearSend(const Message& message, bool once)
    : message_(&message), end_(shm::take_lane()), once_(once) {
    short_since_ = end_->progress.starts;
    slot_bytes_ = slot_bytes(message);
    if (slot_bytes_ > 0) end_->ring_of(bytes_packed(message));
}

NearSend::~NearSend() {
    // A lane whose receiver has not read everything, or that an error left in the middle, is not
    // used again; its memory stays, as the receiver may look at it.
    const bool read = end_->progress.starts == short_since_ || !is_short(*message_) ||
                      (in_words(*message_) ? end_->lane->back.heard(end_->progress.starts)
                                           : room(short_slots) == short_slots);
    if (state_ == State::idle && read && !end_->lane->touched(end_->progress.use))
        shm::give_back(std::move(end_));
    else
        shm::abandon(std::move(end_));
}

LaneOffer NearSend::offer() const {
    LaneOffer offer{end_->place, {}, end_->progress};
    if (slot_bytes_ > 0) offer.ring = shm::place_of(end_->ring.get());
    return offer;
}

std::uint64_t NearSend::room(std::uint64_t of) const {
    return of - (end_->progress.slots - end_->lane->drained.load(std::memory_order_acquire));
}

void NearSend::rebind(const Message& message) {
    message_ = &message;
    packing_ = nullptr;
}

void NearSend::start(const void* data) {
    data_ = static_cast<const std::byte*>(data);
    ++end_->progress.starts;
    if (is_short(*message_)) {
        state_ = !pack_short() ? State::wants_room : once_ ? State::unread : State::idle;
        return;
    }
    end_->lane->forward.say(++end_->progress.said, words_of(0, told_of(*message_, data_)),
                            words_said);
    state_ = State::offered;
}

void NearSend::refuse() {
    end_->lane->refuse(++end_->progress.starts);
    state_ = State::refusing;
}

bool NearSend::pack_short() {
    auto& progress = end_->progress;
    if (in_words(*message_)) {
        const bool others_before = progress.starts > short_since_ + short_slots;
        if (others_before && !end_->lane->back.heard(progress.starts - short_slots)) return false;
    } else if (room(short_slots) == 0) {
        return false;
    }
    if (!packing_) packing_ = &message_->cut(Parts::Kind::packing, direct_from);
    if (in_words(*message_)) {
        Words words{};
        packing_->run(0, data_, reinterpret_cast<std::byte*>(words.data()));
        const auto used = static_cast<std::size_t>(message_->bytes + 7) / 8;
        end_->lane->forward.say(++progress.said, words, used);
    } else {
        const auto slot = static_cast<std::int64_t>(progress.slots++ % short_slots);
        packing_->run(0, data_, end_->ring.get() + slot * slot_bytes_, kernel::Stores::cached);
        end_->lane->filled.store(progress.slots, std::memory_order_release);
    }
    return true;
}

void NearSend::heard_answer() {
    const Words answer = end_->lane->back.words(end_->progress.starts, words_said);
    target_ = reach(answer, *message_, shm::Crossing::Way::write);
    receiver_copies_ = (answer[0] & reads) != 0;
    if (target_) {
        state_ = State::copying;
    } else if (receiver_copies_) {
        state_ = State::watching;
    } else {
        if (!packing_) packing_ = &message_->cut(Parts::Kind::packing, slot_size);
        slot_bytes_ = slot_for(packing_->largest());
        state_ = State::wants_ring;
    }
}

std::int64_t NearSend::ring_bytes() const {
    return slot_bytes_ * static_cast<std::int64_t>(ring_slots);
}

// Nobody copied the parts: count them, so that both ends go on alike.
void NearSend::pass_parts() {
    end_->lane->claimed.fetch_add(message_->parts().size(), std::memory_order_relaxed);
    end_->lane->finished.fetch_add(message_->parts().size(), std::memory_order_release);
}

void NearSend::begin_to_fill() {
    const shm::Place ring = shm::place_of(end_->ring_of(ring_bytes()));
    end_->lane->forward.say(++end_->progress.said, words_of(0, ring), words_said);
    packed_ = 0;
    state_ = State::filling;
}

void NearSend::fill() {
    auto& progress = end_->progress;
    for (std::uint64_t free = room(ring_slots); free > 0 && packed_ < packing_->size(); --free) {
        const auto slot = static_cast<std::int64_t>(progress.slots++ % ring_slots);
        packing_->run(packed_++, data_, end_->ring.get() + slot * slot_bytes_,
                      kernel::Stores::cached);
        end_->lane->filled.store(progress.slots, std::memory_order_release);
    }
}

bool NearSend::poll(Allowance* rings, bool help) {
    return state_ == State::idle ||
           together(
               *end_->lane, end_->progress.use, [&] { return step(rings, help); },
               [&](const std::string& why) { break_off(why); });
}

void NearSend::break_off(const std::string& why) {
    end_->lane->break_off(end_->progress.use, why);
    if (std::exchange(let_go_, true) || state_ == State::idle || is_short(*message_)) return;
    let_go(*end_->lane, end_->progress.parts + message_->parts().size());
}

bool NearSend::step(Allowance* rings, bool help) {
    shm::Lane& lane = *end_->lane;
    auto& progress = end_->progress;
    switch (state_) {
        case State::idle:
            return true;
        case State::refusing:
            if (!lane.back.heard(progress.starts)) return false;
            state_ = State::idle;
            return true;
        case State::wants_room:
            if (!pack_short()) return false;
            state_ = State::idle;
            return true;
        case State::unread:
            if (room(short_slots) < short_slots) return false;
            rings->give(bytes_packed(*message_));
            state_ = State::idle;
            return true;
        case State::offered:
            if (!lane.back.heard(progress.starts)) return false;
            if ((lane.back.word(progress.starts, 0) & discards) == 0) {
                heard_answer();
                return false;
            }
            pass_parts();
            break;
        case State::copying:
            // Where the receiver works on it, this process first does what only it can do; what is
            // all its own is done at once.
            if ((help || !receiver_copies_) &&
                !copy_a_part(lane, progress, *message_, const_cast<std::byte*>(data_), target_,
                             shm::Crossing::Way::write))
                state_ = State::watching;
            if (!lane.all_finished(progress.parts + message_->parts().size())) return false;
            break;
        case State::watching:
            if (!lane.all_finished(progress.parts + message_->parts().size())) return false;
            break;
        case State::wants_ring:
            if (!rings->take(ring_bytes())) return false;
            begin_to_fill();
            [[fallthrough]];
        case State::filling:
            fill();
            if (room(ring_slots) < ring_slots || packed_ < packing_->size()) return false;
            end_->drop_ring();  // all of it is drained
            rings->give(ring_bytes());
            pass_parts();
            break;
    }
    progress.parts += message_->parts().size();
    target_ = {};
    state_ = State::idle;
    return true;
}

}  // namespace hocket::transport
