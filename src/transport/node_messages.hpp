// SPDX-License-Identifier: BSD-3-Clause
// What moves within the node in one transfer: what stays on the process, and the messages to and
// from near processes, each by mail or over a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/interleaving.hpp"
#include "transport/route.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transport {

class NodeMessages {
  public:
    /// `stay`: what stays on the process. `route` must live as long, the others until others are
    /// bound. `most`: bytes of rings; one is always possible.
    NodeMessages(const Direction& sends, const Direction& receives, const Chunks& stay,
                 const Route& route, std::int64_t most);

    /// Gives every message a lane that stays; `connected`, polled, says when all of them are laid.
    void connect();
    bool connected();
    /// The same messages for an array of other strides; only when all is done.
    void rebind(const Direction& sends, const Direction& receives, const Chunks& stay);

    /// Whether message `i` of the side moves within the node.
    bool sends(std::size_t i) const { return near(receiver(i)); }
    bool receives(std::size_t i) const { return near(sender(i)); }
    /// Begins with no message; only when all is done. `scratch`: the memory of all messages, if it
    /// is not that of source and destination. `refusing`: no elements leave this process, and it
    /// takes none; only with persistent channels.
    void begin(const void* source, void* destination, std::byte* scratch, bool refusing);
    /// Message `i` of the side, if it moves within the node. Sends start with `begin_sends`, in the
    /// order of these calls.
    bool receive(std::size_t i);
    bool send(std::size_t i);
    void begin_sends();
    /// Progresses all messages; true if anything was done.
    bool poll();
    /// Messages that have been received since the last call; only of a start with scratch memory.
    std::vector<std::size_t> take_received() { return std::exchange(received_, {}); }
    /// Calls `found` with the rank of each sender that refused its message.
    template <class Function>
    void each_refused(const Function& found) const {
        for (std::size_t i = 0; i < receives_.size(); ++i)
            if (receives_[i] && receives_[i]->refused()) found(sender(i));
    }
    /// Copies the next part of what stays on this process, unless it was woven into what came.
    bool copy_stay();
    bool finished();

    /// Whether there is nothing but short messages over lanes that stay. Then that it is finished
    /// is known without a look at anything but the lanes.
    bool all_short() const { return all_short_; }
    bool channels_done() const { return sending_.empty() && receiving_.empty(); }

    /// Does not go on, and lets all know who wait for this process.
    void abort_use(const std::string& why);

  private:
    bool near(int rank) const { return route_.link->in_node(rank); }
    // As mail: too short for a lane that is used once.
    bool is_eager(const Message& message, int rank) const;
    int sender(std::size_t i) const { return route_.rank_of(in_->messages[i]); }
    int receiver(std::size_t i) const { return route_.rank_of(out_->messages[i]); }
    const std::byte* sent_from() const { return scratch_ != nullptr ? scratch_ : from_; }
    std::byte* received_into() const { return scratch_ != nullptr ? scratch_ : to_; }
    // Who sends a message tells the receiver of a lane, once.
    void offer(std::size_t i);
    bool accept_offers();
    void begin_receive(std::size_t i);
    bool all_gone(std::vector<std::pair<int, std::uint64_t>>& mail);
    bool weave();

    const Direction *out_, *in_;
    const Chunks* stay_;
    const Route& route_;
    const std::byte* from_ = nullptr;
    std::byte *to_ = nullptr, *scratch_ = nullptr;
    std::vector<std::size_t> received_;
    std::uint64_t stay_done_ = 0;  // parts
    bool persistent_ = false, started_ = false, all_short_ = false, wove_ = false,
         refusing_ = false;
    std::vector<std::pair<int, std::uint64_t>> offered_;      // lanes, to ranks, by mail on its way
    std::vector<std::pair<int, std::uint64_t>> eager_sends_;  // likewise, messages
    std::vector<std::size_t> unannounced_;  // receives without a text so far, in order
    std::vector<int> silent_;               // the ranks they wait for, of one look at them
    std::vector<std::size_t> unsent_;       // messages that there may be no room for yet
    std::size_t next_unsent_ = 0;
    std::vector<std::unique_ptr<ShmSend>> sends_;
    std::vector<std::unique_ptr<ShmReceive>> receives_;
    std::vector<std::size_t> sending_, receiving_;  // under way
    std::optional<Interleaving> interleaving_;      // once all that is received is under way
    BufferBudget rings_;
};

}  // namespace hocket::transport
