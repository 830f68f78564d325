// SPDX-License-Identifier: BSD-3-Clause
// One process's part of a plan, made ready for arrays of given strides: which messages to send and
// receive, and the copies that pack, unpack and stay. Holds no buffer and no array.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/plan.hpp"
#include "transfer/relay_plan.hpp"
#include "transport/message.hpp"

namespace hocket::transfer {

/// Made quickly: who is sent how much.
class LocalPlan {
  public:
    /// @throws LayoutError as the plan does.
    LocalPlan(const Plan& plan, const LocalView& source, const LocalView& destination);

    transport::Direction sends, receives;
    std::optional<RelayPlan> relay;  // instead of these: strategies that pass on
    transport::Chunks local;         // what stays on this process

    const Plan& plan() const;
    /// The processes of the destination that receive from this one, itself left out.
    std::vector<std::int64_t> receivers() const;

  private:
    struct Ends;  // what cuts the messages, shared with them
    void add_message(std::size_t peer, bool sending);
    void put_in_order(transport::Direction& side);

    std::shared_ptr<const Ends> ends_;
    std::shared_ptr<const transport::Message::Cutter> cut_sends_, cut_receives_;
};

/// From a bounded cache, keyed by value; `options` as for the plan, but with the strategy named
/// ("auto" is direct here): all processes must know it.
std::shared_ptr<const LocalPlan> cached_local_plan(const Layout& source_layout,
                                                   const Layout& destination_layout,
                                                   const plan::Options& options,
                                                   const LocalView& source,
                                                   const LocalView& destination);

}  // namespace hocket::transfer
