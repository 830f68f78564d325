// SPDX-License-Identifier: BSD-3-Clause
// The seconds of one stage of a strategy: those of its slowest process, or of a node's slowest
// link.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/costs.hpp"

namespace hocket::plan {

/// The messages and elements of a process in one direction, within its node and to other nodes.
struct Ends {
    double near_messages = 0, far_messages = 0;
    double near_elements = 0, far_elements = 0;
};

/// The work of a port: of a process, or of the link of a node. A process spends time on messages of
/// both directions; bytes of both directions move concurrently.
struct Load {
    double messages = 0, out = 0, in = 0;
    double sent = 0, received = 0;  // of `messages`, for those to and from other nodes
    double seconds() const { return messages + (out > in ? out : in); }
    bool idle() const { return messages == 0 && out == 0 && in == 0; }
};

/// Messages that are on a link together share it and arrive together, late; only then can their
/// receiver handle them. So the receiver waits if senders, who start their messages in `pace`
/// seconds, are ahead of the link, which carries them in `carried`: the whole time if they start at
/// once, not at all if the link keeps up. Simulations gave the values between
/// (docs/guide/strategies.md).
double after_link(double handling, double carried, double pace);

/// A stage, message by message. Link numbers follow process numbers. `together`: all messages are
/// under way at once; in successive rounds a process handles one while the next arrives.
class Stage {
  public:
    Stage(const Problem& problem, const Costs& costs, bool together);
    void add(const SideRank& from, const SideRank& to, std::int64_t elements, bool relayed);
    double end();  ///< The seconds; then the stage is empty.

  private:
    Load& of(std::int64_t port) { return loads_[static_cast<std::size_t>(port)]; }
    void add(std::int64_t from, std::int64_t to, double start, double carry);

    const Problem& problem_;
    const Costs& costs_;
    bool together_;
    std::int64_t processes_;
    std::vector<Load> loads_;
    std::vector<std::int64_t> touched_;
    std::vector<std::pair<std::int64_t, std::int64_t>> arrivals_;  // at a process, by a link
    double slowest_ = 0;
};

/// A stage whose messages are all under way at once, from the sums of its processes.
class StageOfSums {
  public:
    StageOfSums(const Problem& problem, const Costs& costs);
    /// Adds messages that a process sends, or receives. The links of its node also carry those of
    /// the other processes for which it stands: together `weight` times as much.
    void add(const SideRank& stop, bool sends, const Ends& ends, bool relayed, double weight = 1);
    double end() const;
    bool any() const;  ///< whether a process has messages

  private:
    const Problem& problem_;
    const Costs& costs_;
    std::vector<Load> processes_, links_;
};

}  // namespace hocket::plan
