// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/near.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "hocket/error.hpp"

namespace hocket::transfer {
namespace {

using node::Words;

// What fits a saying travels in it: one line, and no other.
constexpr std::int64_t longest_inline = sizeof(Words);
// Small enough that what one process fills is in its cache still when the other drains it; enough
// slots that neither waits for each part.
constexpr std::int64_t slot_size = std::int64_t{128} << 10;
constexpr std::uint64_t slots = 4;
constexpr std::uint64_t short_slots = 2;

bool in_words(const NearMessage& message) {
    return message.bytes() <= longest_inline;
}

// This end's memory may go when it has given up: nobody takes a part any more, and the other end
// finishes what it has taken. One that does not in such a time is not there any more.
void let_go(node::Lane& lane, std::uint64_t end) {
    using Clock = std::chrono::steady_clock;
    const std::uint64_t taken = lane.close(end);
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (!lane.all_finished(taken) && Clock::now() < until) std::this_thread::yield();
}

// Either end's error is an error of both: who waits for the other would wait for ever.
template <class Step, class LetGo>
bool together(const node::Lane& lane, std::uint64_t use, const Step& step, const LetGo& give_up) {
    const auto require_whole = [&] {
        if (!lane.broken(use)) return;
        const std::string why = lane.words.data();
        give_up(why);
        throw Error("the other process of a transfer within the node gave it up: " + why);
    };
    require_whole();  // else this end might copy what is not there any more
    try {
        if (!step()) return false;
    } catch (const std::exception& error) {
        give_up(error.what());
        throw;
    }
    require_whole();  // the part that failed counts as finished
    return true;
}

}  // namespace

NearSend::NearSend(const NearMessage& message) : message_(&message), end_(node::take_lane()) {
    short_since_ = end_->progress.starts;
    if (!message.is_short() || in_words(message)) return;
    slot_bytes_ = (message.bytes() + 63) / 64 * 64;
    end_->ring_of(slot_bytes_ * static_cast<std::int64_t>(short_slots));
}

NearSend::~NearSend() {
    // A lane whose receiver has not read everything, or that an error left in the middle, is not
    // used again; its memory stays, as the receiver may look at it.
    const bool read = end_->progress.starts == short_since_ || !message_->is_short() ||
                      (in_words(*message_) ? end_->lane->back.heard(end_->progress.starts)
                                           : room(short_slots) == short_slots);
    if (state_ == State::idle && read && !end_->lane->touched(end_->progress.use))
        node::give_back(std::move(end_));
    else
        node::abandon(std::move(end_));
}

LaneOffer NearSend::offer() const {
    LaneOffer offer{end_->place, {}, end_->progress};
    if (slot_bytes_ > 0) offer.ring = node::place_of(end_->ring.get());
    return offer;
}

std::uint64_t NearSend::room(std::uint64_t of) const {
    return of - (end_->progress.slots - end_->lane->drained.load(std::memory_order_acquire));
}

void NearSend::rebind(const NearMessage& message) {
    message_ = &message;
    packing_.reset();
}

void NearSend::start(const void* data) {
    data_ = static_cast<const std::byte*>(data);
    ++end_->progress.starts;
    if (message_->is_short()) {
        state_ = pack_short() ? State::idle : State::wants_room;
        return;
    }
    end_->lane->forward.say(++end_->progress.said, words_of(0, told_of(*message_, data_)),
                            words_said);
    state_ = State::offered;
}

bool NearSend::pack_short() {
    auto& progress = end_->progress;
    if (in_words(*message_)) {
        const bool others_before = progress.starts > short_since_ + short_slots;
        if (others_before && !end_->lane->back.heard(progress.starts - short_slots)) return false;
    } else if (room(short_slots) == 0) {
        return false;
    }
    if (!packing_) packing_ = Parts::packing(message_->boxes, direct_from);
    if (in_words(*message_)) {
        Words words{};
        packing_->run(0, data_, reinterpret_cast<std::byte*>(words.data()));
        const auto used = static_cast<std::size_t>(message_->bytes() + 7) / 8;
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
    target_ = reach(answer, *message_);
    receiver_copies_ = (answer[0] & reads) != 0;
    if (target_) {
        state_ = State::copying;
    } else if (receiver_copies_) {
        state_ = State::watching;
    } else {
        if (!packing_) packing_ = Parts::packing(message_->boxes, slot_size);
        slot_bytes_ = (packing_->largest() + 63) / 64 * 64;
        state_ = State::wants_ring;
    }
}

std::int64_t NearSend::ring_bytes() const {
    return slot_bytes_ * static_cast<std::int64_t>(slots);
}

void NearSend::begin_to_fill() {
    const node::Place ring = node::place_of(end_->ring_of(ring_bytes()));
    end_->lane->forward.say(++end_->progress.said, words_of(0, ring), words_said);
    packed_ = 0;
    state_ = State::filling;
}

void NearSend::fill() {
    auto& progress = end_->progress;
    for (std::uint64_t free = room(slots); free > 0 && packed_ < packing_->size(); --free) {
        const auto slot = static_cast<std::int64_t>(progress.slots++ % slots);
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
    if (std::exchange(let_go_, true) || state_ == State::idle || message_->is_short()) return;
    let_go(*end_->lane, end_->progress.parts + message_->parts.size());
}

bool NearSend::step(Allowance* rings, bool help) {
    node::Lane& lane = *end_->lane;
    auto& progress = end_->progress;
    switch (state_) {
        case State::idle:
            return true;
        case State::wants_room:
            if (!pack_short()) return false;
            state_ = State::idle;
            return true;
        case State::offered:
            if (!lane.back.heard(progress.starts)) return false;
            heard_answer();
            return false;
        case State::copying:
            // Where the receiver works on it, this process first does what only it can do; what is
            // all its own is done at once.
            if ((help || !receiver_copies_) &&
                !copy_a_part(lane, progress, *message_, const_cast<std::byte*>(data_), target_,
                             node::Crossing::Way::write))
                state_ = State::watching;
            if (!lane.all_finished(progress.parts + message_->parts.size())) return false;
            break;
        case State::watching:
            if (!lane.all_finished(progress.parts + message_->parts.size())) return false;
            break;
        case State::wants_ring:
            if (!rings->take(ring_bytes())) return false;
            begin_to_fill();
            [[fallthrough]];
        case State::filling:
            fill();
            if (room(slots) < slots || packed_ < packing_->size()) return false;
            end_->drop_ring();  // all of it is drained
            rings->give(ring_bytes());
            // Nobody copied the parts: count them, so that both ends go on alike.
            lane.claimed.fetch_add(message_->parts.size(), std::memory_order_relaxed);
            lane.finished.fetch_add(message_->parts.size(), std::memory_order_release);
            break;
    }
    progress.parts += message_->parts.size();
    target_ = {};
    state_ = State::idle;
    return true;
}

NearReceive::NearReceive(const NearMessage& message, const LaneOffer& offer)
    : message_(&message),
      process_(offer.lane.process),
      memory_(node::map(offer.lane)),
      progress_(offer.progress) {
    ring_ = node::map(offer.ring);
    if (memory_ == nullptr || (offer.ring && ring_ == nullptr))
        throw Error("the memory of process " + std::to_string(process_) +
                    " of this node could be mapped before, but not now (" + std::strerror(errno) +
                    "); allow this process more open files or maps");
    lane_ = std::launder(reinterpret_cast<node::Lane*>(memory_.get()));
}

void NearReceive::rebind(const NearMessage& message) {
    message_ = &message;
    unpacking_.reset();
}

void NearReceive::start(void* data) {
    data_ = static_cast<std::byte*>(data);
    ++progress_.starts;
    state_ = State::expecting;
}

bool NearReceive::unpack_short() {
    if (in_words(*message_) ? !lane_->forward.heard(progress_.said + 1)
                            : lane_->filled.load(std::memory_order_acquire) <= progress_.slots)
        return false;
    if (!unpacking_) unpacking_ = Parts::unpacking(message_->boxes, direct_from);
    if (in_words(*message_)) {
        const auto used = static_cast<std::size_t>(message_->bytes() + 7) / 8;
        const Words words = lane_->forward.words(++progress_.said, used);
        unpacking_->run(0, reinterpret_cast<const std::byte*>(words.data()), data_);
        lane_->back.say(progress_.starts, {}, 0);
    } else {
        const auto slot = static_cast<std::int64_t>(progress_.slots++ % short_slots);
        const std::int64_t slot_bytes = (message_->bytes() + 63) / 64 * 64;
        unpacking_->run(0, ring_.get() + slot * slot_bytes, data_);
        lane_->drained.store(progress_.slots, std::memory_order_release);
    }
    return true;
}

void NearReceive::answer() {
    origin_ = reach(lane_->forward.words(++progress_.said, words_said), *message_);
    lane_->back.say(progress_.starts, words_of(origin_ ? reads : 0, told_of(*message_, data_)),
                    words_said);
    unpacked_ = 0;
    ring_.reset();
    state_ = origin_ ? State::copying : State::watching;
}

bool NearReceive::drain() {
    if (!unpacking_) unpacking_ = Parts::unpacking(message_->boxes, slot_size);
    const std::int64_t slot_bytes = (unpacking_->largest() + 63) / 64 * 64;
    const std::uint64_t filled = lane_->filled.load(std::memory_order_acquire);
    while (progress_.slots < filled) {
        const auto slot = static_cast<std::int64_t>(progress_.slots++ % slots);
        unpacking_->run(unpacked_++, ring_.get() + slot * slot_bytes, data_,
                        stores_for(message_->bytes()));
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
    if (std::exchange(let_go_, true) || state_ == State::idle || message_->is_short()) return;
    let_go(*lane_, progress_.parts + message_->parts.size());
}

bool NearReceive::step() {
    switch (state_) {
        case State::idle:
            return true;
        case State::expecting:
            if (message_->is_short()) {
                if (!unpack_short()) return false;
                state_ = State::idle;
                return true;
            }
            if (lane_->forward.heard(progress_.said + 1)) answer();
            return false;
        case State::copying:
            if (!copy_a_part(*lane_, progress_, *message_, data_, origin_,
                             node::Crossing::Way::read))
                state_ = State::watching;
            return false;
        case State::watching: {
            // What is said next is where the ring lies, unless all is copied: then it is the next
            // message. So it is listened for before the parts are counted.
            const bool more = lane_->forward.heard(progress_.said + 1);
            if (lane_->all_finished(progress_.parts + message_->parts.size())) break;
            if (origin_ || !more) return false;
            ring_ = node::map(place_in(lane_->forward.words(++progress_.said, words_said)));
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
    progress_.parts += message_->parts.size();
    origin_ = {};
    state_ = State::idle;
    return true;
}

}  // namespace hocket::transfer
