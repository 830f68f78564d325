// SPDX-License-Identifier: BSD-3-Clause
// One process's part of a plan, made ready for arrays of given strides: which messages to send and
// receive, and the copies that pack, unpack and stay. Holds no buffer and no array.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/kernel.hpp"
#include "hocket/plan.hpp"
#include "transfer/near.hpp"
#include "transfer/relay_work.hpp"

namespace hocket::transfer {

/// Longer messages travel in pieces of about so many bytes, cut alike on both sides, so that they
/// can pass through buffers of any larger size.
inline constexpr std::int64_t piece_bytes = std::int64_t{1} << 19;

struct Message {
    std::int64_t peer;           // process of the other layout
    std::int64_t turn;           // its place in an order that both sides keep
    Parts pieces;                // from the array to a buffer, or back
    std::int64_t buffer_offset;  // of the first, where each message has a buffer of its own
    std::uint64_t first_piece;   // in the numbering of all pieces of this side
    // The elements already lie together, in order, in the array from here on: nothing is packed.
    std::optional<std::int64_t> in_place;

    std::int64_t bytes() const { return pieces.bytes(); }
};

class Work {
  public:
    /// @throws LayoutError as the plan does.
    Work(const Plan& plan, const Place& source, const Place& destination);

    /// The messages in the order in which to start them.
    struct Direction {
        std::vector<Message> messages;
        std::uint64_t pieces = 0;
        std::int64_t buffer = 0;   // bytes, where each message has a buffer of its own
        std::int64_t largest = 0;  // bytes of a piece that is packed
    };
    Direction sends, receives;
    std::optional<RelayWork> relay;  // instead of these: strategies that pass on
    Parts local;                     // what stays on this process

    const Plan& plan() const { return plan_; }
    /// The turn of the message between these, whoever asks.
    std::int64_t turn(std::int64_t source, std::int64_t destination) const;

    /// The same messages as they travel within a node, made at first use.
    const NearMessage& near_send(std::size_t i) const;
    const NearMessage& near_receive(std::size_t i) const;

  private:
    void add_message(const plan::Part& part, std::size_t peer, bool sending);
    void put_in_order(Direction& side);
    Boxes boxes_of(const plan::Part& part, std::size_t peer) const;
    const NearMessage& near(std::size_t i, bool sending) const;

    Plan plan_;
    Place source_, destination_;
    std::optional<plan::Part> source_part_, destination_part_;
    mutable std::vector<std::unique_ptr<NearMessage>> near_sends_, near_receives_;
};

/// From a bounded cache, keyed by value; `options` as for the plan, but with the strategy named
/// ("auto" is direct here): all processes must know it.
std::shared_ptr<const Work> cached_work(const Layout& source_layout,
                                        const Layout& destination_layout,
                                        const plan::Options& options, const Place& source,
                                        const Place& destination);

}  // namespace hocket::transfer
