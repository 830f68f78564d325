// SPDX-License-Identifier: BSD-3-Clause
// Senders of one node that contend for one receiver of another send to it one after the other.
//
// A process plans its own part alone, so it does not know who else begins with the same receiver.
// Each votes for the receiver of its first message, as in Dietz, Chung, Mattox: "A Parallel
// Processing Support Library Based On Synchronized Aggregate Communication" (section on voting),
// and whoever finds others with the same vote waits until the one before it has nearly done. What
// they share would take as long as before where one sender fills it, and the first would be free
// when its own part has gone. Where one sender does not fill it this costs: so it is an option.
//
// The order is that of the messages' turns (work.hpp). Of all messages that are not done the one of
// the lowest turn then has nobody to wait for, with this as without it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/trace.hpp"
#include "comm/agree.hpp"
#include "transfer/route.hpp"
#include "transfer/work.hpp"

namespace hocket::transfer {

/// Messages of fewer bytes do not take turns: what they would wait for is about as long as they
/// are.
inline constexpr std::int64_t ordered_from = 4 * piece_bytes;

class Contest {
  public:
    /// `order`: the contenders, as members of the senders, one of which I am.
    Contest(comm::Group senders, int number, const std::vector<int>& order);
    ~Contest();  ///< passes: after an error here the others go on
    Contest(const Contest&) = delete;
    Contest& operator=(const Contest&) = delete;

    bool my_turn();  ///< now, or before
    void pass();     ///< to the next, once it is my turn; further calls do nothing
    bool over();     ///< passed, and the next one knows

  private:
    comm::Group senders_;
    int number_;
    int next_ = -1;  // member
    std::optional<comm::Driven<void>> hearing_, telling_;
    bool heard_ = false, passed_ = false;
    trace::Track track_;
};

/// Whether HOCKET_TAKE_TURNS is 1. All senders of a call must agree on it before they contend: who
/// votes waits for the votes of the others. @throws Error for what it cannot be.
bool takes_turns();

/// By all senders of a direct transfer that take turns, which agree as a team
/// (`senders.aggregates`), under the number of their call: nullptr where this process contends with
/// nobody. All that live on must until this ends.
comm::Protocol<std::unique_ptr<Contest>> contend(const Work& work, const Route& route,
                                                 const comm::Group& senders, int number);

}  // namespace hocket::transfer
