// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "hocket/error.hpp"
#include "transport/channel_use.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transport {

using shm::Payload;

ShmReceive::ShmReceive(const Message& message, const shm::SharedAddress& channel)
    : message_(&message), process_(channel.process) {
    if (const auto memory = shm::map(channel)) {
        channel_ = {memory, std::launder(reinterpret_cast<shm::Channel*>(memory.get()))};
        counters_ = channel_->counters;
        ring_ = shm::map(channel_->ring);
    }
    if (channel_ == nullptr || (channel_->ring && ring_ == nullptr))
        throw Error("the memory of process " + std::to_string(process_) +
                    " of this node could be mapped before, but not now (" + std::strerror(errno) +
                    "); allow this process more open files or maps");
}

void ShmReceive::rebind(const Message& message) {
    message_ = &message;
    unpacking_ = nullptr;
}

void ShmReceive::start(void* data) {
    data_ = static_cast<std::byte*>(data);
    ++counters_.starts;
    state_ = State::expecting;
    refused_ = discards_ = false;
}

void ShmReceive::discard() {
    start(nullptr);
    discards_ = true;
    if (is_short(*message_))
        channel_->dropped.store(counters_.starts, std::memory_order_release);
    else
        channel_->back.publish(counters_.starts, payload_of(discards, {}), address_words);
}

// The slots must be looked at last: a slot that was filled before the array was lent is visible
// then.
bool ShmReceive::receive_short() {
    const bool published = (fits_payload(*message_) || message_->bytes >= lent_from) &&
                           channel_->forward.observed(counters_.published + 1);
    if (fits_payload(*message_)
            ? !published
            : channel_->filled.load(std::memory_order_acquire) <= counters_.slots)
        return published && copy_lent();
    if (!unpacking_) unpacking_ = &message_->cut(Chunks::Kind::unpacking, direct_from);
    if (fits_payload(*message_)) {
        const auto used = static_cast<std::size_t>(message_->bytes + 7) / 8;
        const Payload words = channel_->forward.payload(++counters_.published, used);
        if (!discards_) unpacking_->run(0, reinterpret_cast<const std::byte*>(words.data()), data_);
        channel_->back.publish(counters_.starts, {}, 0);
    } else {
        const auto slot = static_cast<std::int64_t>(counters_.slots++ % short_slots);
        if (!discards_) unpacking_->run(0, ring_.get() + slot * slot_bytes(*message_), data_);
        channel_->drained.store(counters_.slots, std::memory_order_release);
    }
    return true;
}

// False if this process cannot map the array; then the sender packs it.
bool ShmReceive::copy_lent() {
    const Payload words = channel_->forward.payload(++counters_.published, address_words);
    std::uint64_t answer = discards;
    if (!discards_) {
        const PeerArray lent = find_peer_array(words, *message_, false);
        if (lent)
            while (copy_chunk(*channel_, counters_, *message_, data_, lent, false)) {
            }
        answer = lent ? reads : 0;
    }
    channel_->back.publish(counters_.starts, payload_of(answer, {}), 1);
    if (answer == 0) return false;
    counters_.parts += message_->parts().size();
    return true;
}

// False if there is nothing to copy.
bool ShmReceive::answer() {
    if (discards_) {  // the sender knows it
        ++counters_.published;
        return false;
    }
    origin_ = find_peer_array(channel_->forward.payload(++counters_.published, address_words),
                              *message_, false);
    channel_->back.publish(counters_.starts,
                           payload_of(origin_ ? reads : 0, published_address(*message_, data_)),
                           address_words);
    unpacked_ = 0;
    ring_.reset();
    state_ = origin_ ? State::copying : State::watching;
    set_copying(state_ == State::copying);
    return true;
}

std::optional<std::uint64_t> ShmReceive::next_part() const {
    if (state_ != State::copying || !origin_.fetches()) return std::nullopt;
    const std::uint64_t claimed = channel_->claimed.load(std::memory_order_acquire);
    if (claimed >= counters_.parts + message_->parts().size()) return std::nullopt;
    return claimed - counters_.parts;
}

bool ShmReceive::take(std::uint64_t part) {
    std::uint64_t next = counters_.parts + part;
    return channel_->claimed.compare_exchange_strong(next, next + 1, std::memory_order_acq_rel);
}

const std::byte* ShmReceive::fetch(std::uint64_t part) const {
    return or_abort(*channel_, counters_, [&] { return origin_.fetch(part, *message_); });
}

void ShmReceive::copy(std::uint64_t part, const std::byte* fetched) const {
    parts().run(part, fetched, data_, stores_for(message_->bytes, message_->bytes_of_many));
}

bool ShmReceive::drain() {
    if (!unpacking_) unpacking_ = &message_->cut(Chunks::Kind::unpacking, slot_size);
    const std::int64_t slot_size_here = in_lines(unpacking_->largest());
    const std::uint64_t filled = channel_->filled.load(std::memory_order_acquire);
    while (counters_.slots < filled) {
        const auto slot = static_cast<std::int64_t>(counters_.slots++ % ring_slots);
        unpacking_->run(unpacked_++, ring_.get() + slot * slot_size_here, data_,
                        stores_for(message_->bytes, message_->bytes_of_many));
        channel_->drained.store(counters_.slots, std::memory_order_release);
    }
    return unpacked_ == unpacking_->size();
}

bool ShmReceive::poll() {
    return state_ == State::idle || together(
                                        *channel_, counters_.use, [&] { return step(); },
                                        [&](const std::string& why) { abort_use(why); });
}

void ShmReceive::abort_use(const std::string& why) {
    channel_->abort_use(counters_.use, why);
    set_copying(false);
    if (std::exchange(let_go_, true) || state_ == State::idle || is_short(*message_)) return;
    release_memory(*channel_, counters_.parts + message_->parts().size());
}

bool ShmReceive::step() {
    switch (state_) {
        case State::idle:
            return true;
        case State::expecting:
            refused_ = channel_->refused(counters_.starts);
            if (refused_) {
                if (!discards_ || is_short(*message_))
                    channel_->back.publish(counters_.starts, {}, 0);
                state_ = State::idle;
                return true;
            }
            if (is_short(*message_)) {
                if (!receive_short()) return false;
                state_ = State::idle;
                return true;
            }
            if (!channel_->forward.observed(counters_.published + 1) || answer()) return false;
            break;
        case State::copying:
            if (!copy_chunk(*channel_, counters_, *message_, data_, origin_, false)) {
                state_ = State::watching;
                set_copying(false);
            }
            return false;
        case State::watching: {
            // The next payload is the address of the ring, unless all is copied: then it is the
            // next message. So poll it before counting the chunks.
            const bool more = channel_->forward.observed(counters_.published + 1);
            if (channel_->all_finished(counters_.parts + message_->parts().size())) break;
            if (origin_ || !more) return false;
            ring_ = shm::map(
                address_in(channel_->forward.payload(++counters_.published, address_words)));
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
    counters_.parts += message_->parts().size();
    origin_ = {};
    state_ = State::idle;
    return true;
}

}  // namespace hocket::transport
