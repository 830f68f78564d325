// SPDX-License-Identifier: BSD-3-Clause
// The schedule of one process: its ends of messages, for any transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/chunks.hpp"

namespace hocket::transport {

/// Between nodes longer messages travel in pieces of about so many bytes, equal on both sides, so
/// that they can pass through buffers of any larger size.
inline constexpr std::int64_t piece_bytes = std::int64_t{1} << 19;

/// So many bytes rounded up to whole cache lines: buffers begin there, so that two processes write
/// no line together.
constexpr std::int64_t in_lines(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/// Cheap to make: it computes its copies at first use, while earlier messages are under way.
class Message {
  public:
    /// Makes the copies in chunks of so many bytes; 0: of the best size for copies from array to
    /// array. Both ends compute the same chunks.
    using Cutter = std::function<Chunks(const Message&, Chunks::Kind, std::int64_t part_bytes)>;

    Message(std::int64_t to_or_from, std::size_t number_there, std::int64_t its_turn,
            std::int64_t size, bool is_dense, std::shared_ptr<const Cutter> cuts)
        : peer(to_or_from),
          number(number_there),
          turn(its_turn),
          bytes(size),
          dense(is_dense),
          cutter(std::move(cuts)) {}

    std::int64_t peer;   // process of a layout: of the other side, unless `within`
    std::size_t number;  // index of that process among the peers, for the cutter
    std::int64_t turn;   // its position in an order that both sides keep
    std::int64_t bytes;
    /// If the schedule has several messages of this direction: the bytes of all of them, and of the
    /// elements that stay. They may not fit the caches, though each message does. Else 0.
    std::int64_t bytes_of_many = 0;
    std::int64_t count = 1;  // of the schedule's messages of this direction
    bool dense;              // this end's array
    std::shared_ptr<const Cutter> cutter;
    std::int64_t buffer_offset = 0;  // of the first piece, if each message has its own buffer
    std::int64_t largest_piece = 0;  // bytes
    /// The number of this schedule's first receives that must be unpacked before this message is
    /// sent.
    std::size_t after = 0;
    /// Bytes from this end's memory to the array whose address it publishes.
    std::int64_t array_offset = 0;
    bool peer_in_source = false;  // its layout
    bool within = false;          // both ends belong to that side

    const Chunks& cut(Chunks::Kind kind, std::int64_t part_bytes = 0) const {
        for (const auto& [bytes_of_part, parts] : cuts_)
            if (parts.kind() == kind && bytes_of_part == part_bytes) return parts;
        cuts_.emplace_front(part_bytes, (*cutter)(*this, kind, part_bytes));
        return cuts_.front().second;
    }
    /// From array to array.
    const Chunks& parts() const { return cut(Chunks::Kind::between); }
    bool worked_out() const { return !cuts_.empty(); }

  private:
    mutable std::forward_list<std::pair<std::int64_t, Chunks>> cuts_;  // with their part_bytes
};

/// Contents of one relayed message in the scratch memory: a parcel that begins or ends on this
/// process, or all parcels that it forwards. The flag of a parcel, a byte of the scratch memory, is
/// 1 if its first process refused the start.
struct Cargo {
    std::int64_t source = -1;  // the parcel's first process; -1: forwarded parcels
    std::int64_t flag_offset = 0;
    // Between the array and the scratch memory; of forwarded parcels and their flags, within that.
    std::vector<kernel::OffsetCopy> copies;
};

/// The messages and local copies of one process for arrays of given strides. Pure data: no buffer,
/// no array. The executor runs any schedule.
/// Invariant: a message depends on receives of lower rounds only, because a parcel goes on in a
/// later round than it came. In a round a process sends at most one message and receives at most
/// one.
struct Schedule {
    std::vector<Message> sends, receives;  // in the order of rounds, and so of their starts
    Chunks local;                          // from this process to itself
    /// For strategies with relays: the size of the scratch memory, in which each message has its
    /// own position; cargo is copied to it or from it.
    std::int64_t scratch = 0;
    std::vector<std::vector<Cargo>> outgoing, incoming;  // one list a message
    /// For a plan: the other processes that receive elements of this process, and those that send
    /// it some.
    std::vector<std::int64_t> receivers, senders;
    std::function<std::string()> text;  // for the log
};

}  // namespace hocket::transport
