// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "transport/channel_use.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transport {

using shm::Payload;

std::int64_t slot_bytes(const Message& message) {
    return is_short(message) && !fits_payload(message) ? in_lines(message.bytes) : 0;
}
std::int64_t bytes_packed(const Message& message) {
    return slot_bytes(message) * static_cast<std::int64_t>(short_slots);
}

ShmSend::ShmSend(const Message& message, bool once, bool lends)
    : message_(&message),
      channel_(shm::acquire_channel()),
      counters_(channel_->counters),
      once_(once),
      lends_(lends) {
    ++counters_.use;
    short_since_ = counters_.starts;
    slot_bytes_ = slot_bytes(message);
    if (slot_bytes_ > 0) ring_ = shm::allocate_shared(bytes_packed(message));
}

ShmSend::~ShmSend() {
    // A channel whose receiver has not read everything, or with an aborted use, is not reused; its
    // memory stays, because the receiver may access it.
    const bool read = counters_.starts == short_since_ || !is_short(*message_) ||
                      (fits_payload(*message_) ? channel_->back.observed(counters_.starts)
                                               : free_slots(short_slots) == short_slots);
    if (state_ == State::idle && read && !channel_->abort_begun(counters_.use))
        shm::release_channel(std::move(channel_), counters_);
    else
        shm::abandon_channel(std::move(channel_), std::move(ring_));
}

shm::SharedAddress ShmSend::offer() const {
    channel_->counters = counters_;
    channel_->ring = ring_ ? shm::shared_address_of(ring_.get()) : shm::SharedAddress{};
    return channel_->address;
}

std::uint64_t ShmSend::free_slots(std::uint64_t of) const {
    return of - (counters_.slots - channel_->drained.load(std::memory_order_acquire));
}

void ShmSend::rebind(const Message& message) {
    message_ = &message;
    packing_ = nullptr;
}

void ShmSend::start(const void* data) {
    data_ = static_cast<const std::byte*>(data);
    ++counters_.starts;
    held_ = once_ ? bytes_packed(*message_) : 0;
    if (is_short(*message_)) {
        if (!lend()) begin_to_pack();
        return;
    }
    channel_->forward.publish(++counters_.published,
                              payload_of(0, published_address(*message_, data_)), address_words);
    state_ = State::offered;
}

void ShmSend::refuse() {
    channel_->refuse(++counters_.starts);
    state_ = State::refusing;
}

// False if the receiver could not read the array, or does not want it.
bool ShmSend::lend() {
    if (!lends_ || message_->bytes < lent_from || !message_->dense) return false;
    if (channel_->dropped.load(std::memory_order_acquire) == counters_.starts) return false;
    const shm::SharedAddress address = shm::shared_address_of(data_ + message_->array_offset);
    if (!address) return false;
    channel_->forward.publish(++counters_.published, payload_of(0, address), address_words);
    state_ = State::lent;
    return true;
}

void ShmSend::begin_to_pack() {
    state_ = !pack_short() ? State::wants_slot : once_ ? State::unread : State::idle;
}

bool ShmSend::pack_short() {
    if (fits_payload(*message_)) {
        const bool others_before = counters_.starts > short_since_ + short_slots;
        if (others_before && !channel_->back.observed(counters_.starts - short_slots)) return false;
    } else if (free_slots(short_slots) == 0) {
        return false;
    }
    if (!packing_) packing_ = &message_->cut(Chunks::Kind::packing, direct_from);
    if (fits_payload(*message_)) {
        Payload words{};
        packing_->run(0, data_, reinterpret_cast<std::byte*>(words.data()));
        const auto used = static_cast<std::size_t>(message_->bytes + 7) / 8;
        channel_->forward.publish(++counters_.published, words, used);
    } else {
        const auto slot = static_cast<std::int64_t>(counters_.slots++ % short_slots);
        packing_->run(0, data_, ring_.get() + slot * slot_bytes_, kernel::Stores::cached);
        channel_->filled.store(counters_.slots, std::memory_order_release);
    }
    return true;
}

void ShmSend::observe_answer() {
    const Payload answer = channel_->back.payload(counters_.starts, address_words);
    target_ = find_peer_array(answer, *message_, true);
    receiver_copies_ = (answer[0] & reads) != 0;
    if (target_) {
        state_ = State::copying;
    } else if (receiver_copies_) {
        state_ = State::watching;
    } else {
        if (!packing_) packing_ = &message_->cut(Chunks::Kind::packing, slot_size);
        slot_bytes_ = in_lines(packing_->largest());
        state_ = State::wants_ring;
    }
}

std::int64_t ShmSend::ring_bytes() const {
    return slot_bytes_ * static_cast<std::int64_t>(ring_slots);
}

// No process copied the chunks: count them, so that both ends agree.
void ShmSend::pass_parts() {
    channel_->claimed.fetch_add(message_->parts().size(), std::memory_order_relaxed);
    channel_->finished.fetch_add(message_->parts().size(), std::memory_order_release);
}

void ShmSend::begin_to_fill() {
    ring_ = shm::allocate_shared(ring_bytes());
    channel_->forward.publish(++counters_.published,
                              payload_of(0, shm::shared_address_of(ring_.get())), address_words);
    packed_ = 0;
    state_ = State::filling;
}

void ShmSend::fill() {
    for (std::uint64_t free = free_slots(ring_slots); free > 0 && packed_ < packing_->size();
         --free) {
        const auto slot = static_cast<std::int64_t>(counters_.slots++ % ring_slots);
        packing_->run(packed_++, data_, ring_.get() + slot * slot_bytes_, kernel::Stores::cached);
        channel_->filled.store(counters_.slots, std::memory_order_release);
    }
}

bool ShmSend::poll(std::int64_t free_bytes, bool help) {
    return state_ == State::idle ||
           together(
               *channel_, counters_.use, [&] { return step(free_bytes, help); },
               [&](const std::string& why) { abort_use(why); });
}

void ShmSend::abort_use(const std::string& why) {
    channel_->abort_use(counters_.use, why);
    if (std::exchange(let_go_, true) || state_ == State::idle) return;
    if (is_short(*message_) && state_ != State::lent) return;
    release_memory(*channel_, counters_.parts + message_->parts().size());
}

bool ShmSend::step(std::int64_t free_bytes, bool help) {
    switch (state_) {
        case State::idle:
            return true;
        case State::refusing:
            if (!channel_->back.observed(counters_.starts)) return false;
            state_ = State::idle;
            return true;
        case State::wants_slot:
            if (!pack_short()) return false;
            state_ = State::idle;
            return true;
        case State::unread:
            if (free_slots(short_slots) < short_slots) return false;
            held_ = 0;
            state_ = State::idle;
            return true;
        case State::lent: {
            if (!channel_->back.observed(counters_.starts)) return false;
            const std::uint64_t answer = channel_->back.payload_word(counters_.starts, 0);
            if (answer == 0) {  // the receiver cannot map the array
                begin_to_pack();
                return state_ == State::idle;
            }
            if ((answer & discards) != 0) pass_parts();
            break;
        }
        case State::offered:
            if (!channel_->back.observed(counters_.starts)) return false;
            if ((channel_->back.payload_word(counters_.starts, 0) & discards) == 0) {
                observe_answer();
                return false;
            }
            pass_parts();
            break;
        case State::copying:
            // If the receiver works on it, this process first does work that only it can do; work
            // of its own alone it does at once.
            if ((help || !receiver_copies_) &&
                !copy_chunk(*channel_, counters_, *message_, const_cast<std::byte*>(data_), target_,
                            true))
                state_ = State::watching;
            if (!channel_->all_finished(counters_.parts + message_->parts().size())) return false;
            break;
        case State::watching:
            if (!channel_->all_finished(counters_.parts + message_->parts().size())) return false;
            break;
        case State::wants_ring:
            if (ring_bytes() > free_bytes) return false;
            held_ = ring_bytes();
            begin_to_fill();
            [[fallthrough]];
        case State::filling:
            fill();
            if (free_slots(ring_slots) < ring_slots || packed_ < packing_->size()) return false;
            ring_.reset();  // all of it is drained
            pass_parts();
            break;
    }
    counters_.parts += message_->parts().size();
    target_ = {};
    held_ = 0;
    state_ = State::idle;
    return true;
}

}  // namespace hocket::transport
