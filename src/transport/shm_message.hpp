// SPDX-License-Identifier: BSD-3-Clause
// A message between two processes of a node, over a lane: no packing where one of them can reach
// the other's array, and no MPI message.
//
// Long: the sender says where its array lies, the receiver answers where its own does. Who can
// reach both copies; where both can, they share the parts between them, as each has time. Memory
// that cannot be mapped (arrays of the user's own) is reached through the kernel where the system
// lets it be and that measured better than the alternative: the parts go through a ring of buffers
// that stay in cache, filled by one and drained by the other.
//
// Short: the sender packs into the lane. In a lane that stays (persistent requests) it need not
// wait for anybody, up to two messages ahead; in one that is used once it waits until it is read.
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

/// Below this many bytes telling where memory lies costs more than packing.
inline constexpr std::int64_t direct_from = std::int64_t{1} << 15;

/// Whether it is packed at once, at both ends.
inline bool is_short(const Message& message) {
    return message.bytes < direct_from;
}
/// Of a short one that is longer than a saying: a slot of the ring that it is packed into, and the
/// whole ring; else 0.
std::int64_t slot_bytes(const Message& message);
std::int64_t bytes_packed(const Message& message);

/// What the receiver must know of a lane before the first message: sent once, by mail.
struct ChannelOffer {
    shm::SharedAddress channel, ring;
    shm::ChannelCounters counters;
};

/// How much memory the rings of one transfer may take together; one is always possible.
class BufferBudget {
  public:
    explicit BufferBudget(std::int64_t bytes) : bytes_(bytes) {}
    bool take(std::int64_t bytes) {
        if (taken_ > 0 && taken_ + bytes > bytes_) return false;
        taken_ += bytes;
        return true;
    }
    void give(std::int64_t bytes) { taken_ -= bytes; }

  private:
    std::int64_t bytes_, taken_ = 0;
};

class ShmSend {
  public:
    /// `once`: before a start the message's bytes_packed() are taken of the allowance that `poll`
    /// gets, which it gives back once it is read. @throws Error where there is no memory for a
    /// lane.
    ShmSend(const Message& message, bool once);
    ~ShmSend();
    ShmSend(const ShmSend&) = delete;
    ShmSend& operator=(const ShmSend&) = delete;

    ChannelOffer offer() const;
    /// The same message to or from an array of other strides; only when the one before is done.
    void rebind(const Message& message);
    /// Begins a message; only when the one before is done.
    void start(const void* data);
    /// Begins one in whose place the receiver learns at once that no elements come.
    void refuse();
    /// Does a share of the work (of what the receiver does, too, only if it is to `help`); true
    /// once the array may be written again.
    /// @throws Error what went wrong on either side, on both.
    bool poll(BufferBudget* rings, bool help = true);
    /// Whether nothing has been heard of the receiver since the last start.
    bool unanswered() const {
        return state_ == State::offered || state_ == State::wants_room || state_ == State::unread;
    }
    /// Does not go on, and lets the receiver know, who copies nothing more when this returns.
    void abort_use(const std::string& why);

  private:
    bool step(BufferBudget* rings, bool help);
    void pass_parts();
    enum class State {
        idle,
        refusing,
        wants_room,
        unread,
        offered,
        copying,
        watching,
        wants_ring,
        filling
    };
    std::uint64_t room(std::uint64_t of) const;  // slots that are free
    bool pack_short();
    void heard_answer();
    std::int64_t ring_bytes() const;
    void begin_to_fill();
    void fill();

    const Message* message_;
    std::unique_ptr<shm::ChannelEnd> end_;
    State state_ = State::idle;
    const std::byte* data_ = nullptr;
    PeerArray target_;  // the receiver's array
    const Chunks* packing_ = nullptr;
    std::uint64_t packed_ = 0, short_since_ = 0;
    std::int64_t slot_bytes_ = 0;
    bool once_, receiver_copies_ = false, let_go_ = false;
};

/// Counts, of all transfers of this process, the receives that have parts left to copy. Who helps a
/// receiver of another process meanwhile would keep the others waiting for this one, and where the
/// elements of two messages lie in the same cache lines both would write them at the same time.
class ReceiveInProgress {
  public:
    ReceiveInProgress() = default;
    ~ReceiveInProgress() { set(false); }
    ReceiveInProgress(const ReceiveInProgress&) = delete;
    ReceiveInProgress& operator=(const ReceiveInProgress&) = delete;
    void set(bool busy) {
        if (busy != busy_) count_ += busy ? 1 : -1;
        busy_ = busy;
    }
    static bool any() { return count_ > 0; }

  private:
    static inline std::atomic<int> count_ = 0;
    bool busy_ = false;
};

class ShmReceive {
  public:
    /// @throws Error where the lane cannot be mapped.
    ShmReceive(const Message& message, const ChannelOffer& offer);
    void rebind(const Message& message);

    void start(void* data);
    /// Begins a message whose elements this end does not take. The sender need not wait for it.
    void discard();
    /// Whether the sender refused the message that is done.
    bool refused() const { return refused_; }
    /// Does a share of the work; true once the message is there.
    /// @throws Error what went wrong on either side, on both.
    bool poll();
    /// Does not go on, and lets the sender know, who copies nothing more when this returns.
    void abort_use(const std::string& why);
    /// Whether the sender has been told of this end's array, since the last start.
    bool answered() const { return state_ != State::idle && state_ != State::expecting; }

    // For who copies parts of several messages together (transport/interleaving.hpp).
    /// The part that nobody has taken, where this end copies from what it can fetch.
    std::optional<std::uint64_t> next_part() const;
    /// The copies from what is fetched; only where there is a next part.
    const Chunks& parts() const { return origin_.from_fetched(*message_); }
    /// Takes that part, if it is the next still. Then it is to be fetched, copied and finished.
    bool take(std::uint64_t part);
    /// As Reached::fetch; of a process that is gone nothing is ever finished.
    const std::byte* fetch(std::uint64_t part) const;
    void copy(std::uint64_t part, const std::byte* fetched) const;
    void finish() { channel_->finish(); }

  private:
    enum class State { idle, expecting, copying, watching, draining };
    bool step();
    bool unpack_short();
    bool answer();
    bool drain();

    const Message* message_;
    std::int64_t process_;  // the sender's id
    std::shared_ptr<std::byte> memory_, ring_;
    shm::Channel* channel_ = nullptr;
    shm::ChannelCounters counters_;
    State state_ = State::idle;
    std::byte* data_ = nullptr;
    PeerArray origin_;  // the sender's array
    const Chunks* unpacking_ = nullptr;
    std::uint64_t unpacked_ = 0;
    bool let_go_ = false, refused_ = false, discards_ = false;
    ReceiveInProgress busy_;  // while it has parts to copy
};

}  // namespace hocket::transport
