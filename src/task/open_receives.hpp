// SPDX-License-Identifier: BSD-3-Clause
// Receives that another task announces before their messages come. An announcement is the reply,
// ahead: a sender that has it need not wait. Between two tasks of one process each, on different
// nodes of one job, if the receive has no deadline.
//
// Both processes find the same pairs without further messages. The receiver gives each envelope to
// the first posted receive that fits, and announces a receive only if it has announced all earlier
// ones that wait for this sender. The sender gives each announcement to its first send that fits
// and can still meet it. Sends and receives are in the same order on both sides, so one set of
// pairs satisfies both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>

#include "task/matcher.hpp"

namespace hocket::task {

/// On a sender: the open receives of one other task, and the sends that none has met.
class OpenReceives {
  public:
    /// More are not announced.
    static constexpr std::size_t most = 64;

    struct Send {
        std::int64_t ticket;
        int tag;
        std::optional<Envelope> receive = std::nullopt;  // the announcement that it has met
    };

    /// A send whose envelope leaves now. It may meet a receive at once or later.
    std::shared_ptr<const Send> meet(std::int64_t ticket, int tag);
    /// The receiver has replied to this send: it meets none.
    void forget(std::int64_t ticket);
    /// An announcement has come. Its `send`: the last one that had reached the receiver before.
    void add(Envelope receive);

  private:
    static bool fit(const Envelope& receive, const Send& send) {
        return receive.tag < 0 || receive.tag == send.tag;
    }
    std::deque<Envelope> receives_;           // that no send has met
    std::list<std::shared_ptr<Send>> sends_;  // that have met none
};

}  // namespace hocket::task
