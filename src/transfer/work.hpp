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
    std::int64_t peer;  // process of the other layout
    std::size_t place;  // of that process among the peers of this one's part
    std::int64_t turn;  // its place in an order that both sides keep
    std::int64_t bytes;
    std::int64_t buffer_offset = 0;  // of the first piece, where each message has its own buffer
};

/// A message as it travels between nodes, or in the mail: through a buffer, in pieces.
struct FarMessage {
    explicit FarMessage(Parts cut);

    Parts pieces;  // from the array to a buffer, or back
    // The elements already lie together, in order, in the array from here on: nothing is packed.
    std::optional<std::int64_t> in_place;
};

/// Made quickly: who is sent how much. What is copied from where is found message by message, at
/// first use, while those before are on their way.
class Work {
  public:
    /// @throws LayoutError as the plan does.
    Work(const Plan& plan, const Place& source, const Place& destination);

    /// The messages in the order in which to start them.
    struct Direction {
        std::vector<Message> messages;
        std::int64_t buffer = 0;   // bytes, where each message has a buffer of its own
        std::int64_t largest = 0;  // bytes that no piece has more of
    };
    Direction sends, receives;
    std::optional<RelayWork> relay;  // instead of these: strategies that pass on
    Parts local;                     // what stays on this process

    const Plan& plan() const { return plan_; }
    /// The processes of the destination that receive from this one, itself left out.
    std::vector<std::int64_t> receivers() const;
    /// The turn of the message between these, whoever asks.
    std::int64_t turn(std::int64_t source, std::int64_t destination) const;

    /// Messages as they travel within a node, made at first use.
    const NearMessage& near_send(std::size_t i) const { return near(i, true); }
    const NearMessage& near_receive(std::size_t i) const { return near(i, false); }
    /// Likewise, as they travel otherwise.
    const FarMessage& far_send(std::size_t i) const { return far(i, true); }
    const FarMessage& far_receive(std::size_t i) const { return far(i, false); }
    /// How many of these have been made.
    std::size_t made() const { return made_; }

  private:
    void add_message(const plan::Part& part, std::size_t peer, bool sending);
    void put_in_order(Direction& side);
    Boxes boxes_of(const plan::Part& part, std::size_t peer) const;
    const NearMessage& near(std::size_t i, bool sending) const;
    const FarMessage& far(std::size_t i, bool sending) const;

    Plan plan_;
    Place source_, destination_;
    std::optional<plan::Part> source_part_, destination_part_;
    mutable std::vector<std::unique_ptr<NearMessage>> near_sends_, near_receives_;
    mutable std::vector<std::unique_ptr<FarMessage>> far_sends_, far_receives_;
    mutable std::size_t made_ = 0;
};

/// From a bounded cache, keyed by value; `options` as for the plan, but with the strategy named
/// ("auto" is direct here): all processes must know it.
std::shared_ptr<const Work> cached_work(const Layout& source_layout,
                                        const Layout& destination_layout,
                                        const plan::Options& options, const Place& source,
                                        const Place& destination);

}  // namespace hocket::transfer
