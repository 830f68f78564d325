// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "hocket/error.hpp"
#include "transport/ends.hpp"
#include "transport/near.hpp"

namespace hocket::transport {

using shm::Words;

NearReceive::NearReceive(const Message& message, const LaneOffer& offer)
    : message_(&message),
      process_(offer.lane.process),
      memory_(shm::map(offer.lane)),
      progress_(offer.progress) {
    ring_ = shm::map(offer.ring);
    if (memory_ == nullptr || (offer.ring && ring_ == nullptr))
        throw Error("the memory of process " + std::to_string(process_) +
                    " of this node could be mapped before, but not now (" + std::strerror(errno) +
                    "); allow this process more open files or maps");
    lane_ = std::launder(reinterpret_cast<shm::Lane*>(memory_.get()));
}

void NearReceive::rebind(const Message& message) {
    message_ = &message;
    unpacking_ = nullptr;
}

void NearReceive::start(void* data) {
    data_ = static_cast<std::byte*>(data);
    ++progress_.starts;
    state_ = State::expecting;
    refused_ = discards_ = false;
}

void NearReceive::discard() {
    start(nullptr);
    discards_ = true;
    if (!is_short(*message_)) lane_->back.say(progress_.starts, words_of(discards, {}), words_said);
}

bool NearReceive::unpack_short() {
    if (in_words(*message_) ? !lane_->forward.heard(progress_.said + 1)
                            : lane_->filled.load(std::memory_order_acquire) <= progress_.slots)
        return false;
    if (!unpacking_) unpacking_ = &message_->cut(Parts::Kind::unpacking, direct_from);
    if (in_words(*message_)) {
        const auto used = static_cast<std::size_t>(message_->bytes + 7) / 8;
        const Words words = lane_->forward.words(++progress_.said, used);
        if (!discards_) unpacking_->run(0, reinterpret_cast<const std::byte*>(words.data()), data_);
        lane_->back.say(progress_.starts, {}, 0);
    } else {
        const auto slot = static_cast<std::int64_t>(progress_.slots++ % short_slots);
        if (!discards_) unpacking_->run(0, ring_.get() + slot * slot_bytes(*message_), data_);
        lane_->drained.store(progress_.slots, std::memory_order_release);
    }
    return true;
}

// False where nothing is to be copied.
bool NearReceive::answer() {
    if (discards_) {  // as the sender knows
        ++progress_.said;
        return false;
    }
    origin_ = reach(lane_->forward.words(++progress_.said, words_said), *message_,
                    shm::Crossing::Way::read);
    lane_->back.say(progress_.starts, words_of(origin_ ? reads : 0, told_of(*message_, data_)),
                    words_said);
    unpacked_ = 0;
    ring_.reset();
    state_ = origin_ ? State::copying : State::watching;
    busy_.set(state_ == State::copying);
    return true;
}

std::optional<std::uint64_t> NearReceive::next_part() const {
    if (state_ != State::copying || !origin_.fetches()) return std::nullopt;
    const std::uint64_t claimed = lane_->claimed.load(std::memory_order_acquire);
    if (claimed >= progress_.parts + message_->parts().size()) return std::nullopt;
    return claimed - progress_.parts;
}

bool NearReceive::take(std::uint64_t part) {
    std::uint64_t next = progress_.parts + part;
    return lane_->claimed.compare_exchange_strong(next, next + 1, std::memory_order_acq_rel);
}

const std::byte* NearReceive::fetch(std::uint64_t part) const {
    return or_break(*lane_, progress_, [&] { return origin_.fetch(part, *message_); });
}

void NearReceive::copy(std::uint64_t part, const std::byte* fetched) const {
    parts().run(part, fetched, data_, stores_for(message_->bytes));
}

bool NearReceive::drain() {
    if (!unpacking_) unpacking_ = &message_->cut(Parts::Kind::unpacking, slot_size);
    const std::int64_t slot_size_here = slot_for(unpacking_->largest());
    const std::uint64_t filled = lane_->filled.load(std::memory_order_acquire);
    while (progress_.slots < filled) {
        const auto slot = static_cast<std::int64_t>(progress_.slots++ % ring_slots);
        unpacking_->run(unpacked_++, ring_.get() + slot * slot_size_here, data_,
                        stores_for(message_->bytes));
        lane_->drained.store(progress_.slots, std::memory_order_release);
    }
    return unpacked_ == unpacking_->size();
}

bool NearReceive::poll() {
    return state_ == State::idle || together(
                                        *lane_, progress_.use, [&] { return step(); },
                                        [&](const std::string& why) { break_off(why); });
}

void NearReceive::break_off(const std::string& why) {
    lane_->break_off(progress_.use, why);
    busy_.set(false);
    if (std::exchange(let_go_, true) || state_ == State::idle || is_short(*message_)) return;
    let_go(*lane_, progress_.parts + message_->parts().size());
}

bool NearReceive::step() {
    switch (state_) {
        case State::idle:
            return true;
        case State::expecting:
            refused_ = lane_->refused(progress_.starts);
            if (refused_) {
                if (!discards_ || is_short(*message_)) lane_->back.say(progress_.starts, {}, 0);
                state_ = State::idle;
                return true;
            }
            if (is_short(*message_)) {
                if (!unpack_short()) return false;
                state_ = State::idle;
                return true;
            }
            if (!lane_->forward.heard(progress_.said + 1) || answer()) return false;
            break;
        case State::copying:
            if (!copy_a_part(*lane_, progress_, *message_, data_, origin_,
                             shm::Crossing::Way::read)) {
                state_ = State::watching;
                busy_.set(false);
            }
            return false;
        case State::watching: {
            // What is said next is where the ring lies, unless all is copied: then it is the next
            // message. So it is listened for before the parts are counted.
            const bool more = lane_->forward.heard(progress_.said + 1);
            if (lane_->all_finished(progress_.parts + message_->parts().size())) break;
            if (origin_ || !more) return false;
            ring_ = shm::map(place_in(lane_->forward.words(++progress_.said, words_said)));
            if (ring_ == nullptr)
                throw Error("process " + std::to_string(process_) +
                            " of this node gave buffers that cannot be mapped here; allow this "
                            "process more open files or maps");
            state_ = State::draining;
            return false;
        }
        case State::draining:
            if (!drain()) return false;
            break;
    }
    progress_.parts += message_->parts().size();
    origin_ = {};
    state_ = State::idle;
    return true;
}

}  // namespace hocket::transport
