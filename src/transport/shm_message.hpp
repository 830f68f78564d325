// SPDX-License-Identifier: BSD-3-Clause
// A message between two processes of a node, over a channel: no packing if one of them can access
// the other's array, and no MPI message.
//
// Long: the sender publishes the address of its array, and the receiver that of its own. Each end
// that can access the other's memory copies; if both can, they take chunks from one counter. User
// memory cannot be mapped: then the kernel copies it (CMA), if that is allowed and pays.
// Otherwise chunks pass through a ring of buffers that stays in cache, filled by one end and
// drained by the other.
//
// Short: the sender packs into the channel. Over a persistent channel it need not wait, up to two
// messages ahead; over one that is used once it waits until the receiver has read it. If it would
// wait anyway, and its memory is shared, it lends its array for a message that is not very short:
// the receiver reads it there, which is one copy instead of two.
//
// Invariant: the receiver knows which of both comes, because a sender begins no further message
// before the receiver has taken a lent one. So a filled slot is always older than a lent array.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "shm/channel.hpp"
#include "transport/message.hpp"
#include "transport/peer_array.hpp"

namespace hocket::transport {

/// For fewer bytes, the answers of both ends cost more than packing.
inline constexpr std::int64_t direct_from = std::int64_t{1} << 15;
/// For fewer bytes, publishing one address costs more than packing.
inline constexpr std::int64_t lent_from = std::int64_t{1} << 13;

/// Whether one end copies it alone and at once.
inline bool is_short(const Message& message) {
    return message.bytes < direct_from;
}
/// For a short message that is longer than a payload: a slot of the ring into which it is packed,
/// and the whole ring; else 0.
std::int64_t slot_bytes(const Message& message);
std::int64_t bytes_packed(const Message& message);

class ShmSend {
  public:
    /// `once`: it holds its ring for a short message until that is read. `lends`: it may wait for
    /// the receiver of a short message. @throws Error if there is no memory for a channel.
    ShmSend(const Message& message, bool once, bool lends = true);
    ~ShmSend();
    ShmSend(const ShmSend&) = delete;
    ShmSend& operator=(const ShmSend&) = delete;

    /// The address of its channel for the receiver, before the first message.
    shm::SharedAddress offer() const;
    /// Sets the message for an array with other strides; only after the last one is complete.
    void rebind(const Message& message);
    /// Begins a message; only after the last one is complete.
    void start(const void* data);
    /// Begins a message without elements, which the receiver learns at once.
    void refuse();
    /// Does a share of the work (with `help`, also of the receiver's); true once the program may
    /// change the array. `free_bytes`: for a ring that it does not hold yet.
    /// @throws Error of either side, on both.
    bool poll(std::int64_t free_bytes, bool help = true);
    /// The bytes of its ring, as far as the bound on a transfer's buffers includes them.
    std::int64_t held() const { return held_; }
    /// Whether the receiver has not answered since the last start.
    bool unanswered() const {
        return state_ == State::offered || state_ == State::lent || state_ == State::wants_slot ||
               state_ == State::unread;
    }
    /// Aborts, and notifies the receiver, which copies nothing more after the return.
    void abort_use(const std::string& why);

  private:
    bool step(std::int64_t free_bytes, bool help);
    void pass_parts();
    enum class State {
        idle,
        refusing,
        wants_slot,
        unread,
        lent,
        offered,
        copying,
        watching,
        wants_ring,
        filling
    };
    std::uint64_t free_slots(std::uint64_t of) const;
    bool lend();
    void begin_to_pack();
    bool pack_short();
    void observe_answer();
    std::int64_t ring_bytes() const;
    void begin_to_fill();
    void fill();

    const Message* message_;
    std::shared_ptr<shm::Channel> channel_;
    shm::ChannelCounters counters_;
    std::shared_ptr<std::byte> ring_;
    State state_ = State::idle;
    const std::byte* data_ = nullptr;
    PeerArray target_;  // the receiver's array
    const Chunks* packing_ = nullptr;
    std::uint64_t packed_ = 0, short_since_ = 0;
    std::int64_t slot_bytes_ = 0, held_ = 0;
    bool once_, lends_, receiver_copies_ = false, let_go_ = false;
};

class ShmReceive {
  public:
    /// @throws Error if this process cannot map the channel.
    ShmReceive(const Message& message, const shm::SharedAddress& channel);
    ~ShmReceive() { set_copying(false); }
    ShmReceive(const ShmReceive&) = delete;
    ShmReceive& operator=(const ShmReceive&) = delete;
    void rebind(const Message& message);

    void start(void* data);
    /// Begins a message whose elements this end drops. The sender need not wait for it.
    void discard();
    /// Whether the sender refused the complete message.
    bool refused() const { return refused_; }
    /// Does a share of the work; true once the message has arrived.
    /// @throws Error of either side, on both.
    bool poll();
    /// Aborts, and notifies the sender, which copies nothing more after the return.
    void abort_use(const std::string& why);
    /// Whether any receive of this process, of any transfer, has chunks left to copy. Invariant: a
    /// sender helps no receiver then, because it would delay the senders of those chunks, and
    /// because two messages with elements in the same cache lines would both write them.
    static bool any_copying() { return all_copying_ > 0; }
    /// Whether the sender knows this end's array, since the last start.
    bool answered() const { return state_ != State::idle && state_ != State::expecting; }

    // For copies of several messages' chunks together (transport/interleaving.cpp).
    /// The next free chunk, if this end copies from memory that it can fetch.
    std::optional<std::uint64_t> next_part() const;
    /// The copies from the fetched chunk; only if there is a next one.
    const Chunks& parts() const { return origin_.from_fetched(*message_); }
    /// Takes that chunk, if it is still the next. The caller then fetches, copies and finishes it.
    bool take(std::uint64_t part);
    /// As PeerArray::fetch; no chunk of an ended process ever completes.
    const std::byte* fetch(std::uint64_t part) const;
    void copy(std::uint64_t part, const std::byte* fetched) const;
    void finish() { channel_->finish(); }

  private:
    enum class State { idle, expecting, copying, watching, draining };
    bool step();
    bool receive_short();
    bool copy_lent();
    bool answer();
    bool drain();
    void set_copying(bool copying) {
        if (copying != copying_) all_copying_ += copying ? 1 : -1;
        copying_ = copying;
    }

    const Message* message_;
    std::int64_t process_;  // the sender's id
    std::shared_ptr<shm::Channel> channel_;
    shm::ChannelCounters counters_;
    std::shared_ptr<std::byte> ring_;
    State state_ = State::idle;
    std::byte* data_ = nullptr;
    PeerArray origin_;  // the sender's array
    const Chunks* unpacking_ = nullptr;
    std::uint64_t unpacked_ = 0;
    bool let_go_ = false, refused_ = false, discards_ = false;
    bool copying_ = false;  // it has chunks to copy
    static inline std::atomic<int> all_copying_ = 0;
};

}  // namespace hocket::transport
