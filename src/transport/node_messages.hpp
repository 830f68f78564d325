// SPDX-License-Identifier: BSD-3-Clause
// The messages of one transfer within the node: local elements, and messages to and from processes
// of the node, each as a text or over a channel.
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
    /// `stay`: local elements. `route` must live as long; the others until the next rebind. `most`:
    /// bytes of rings; one is always possible.
    NodeMessages(const Direction& sends, const Direction& receives, const Chunks& stay,
                 const Route& route, std::int64_t most);

    /// Gives every message a persistent channel; `connected`, when polled, says whether all exist.
    void connect();
    bool connected();
    /// Sets the messages for an array with other strides; only while none is under way.
    void rebind(const Direction& sends, const Direction& receives, const Chunks& stay);

    /// Whether message `i` of the side stays within the node.
    bool sends(std::size_t i) const { return near(receiver(i)); }
    bool receives(std::size_t i) const { return near(sender(i)); }
    /// Begins without messages; only while none is under way. `scratch`: the memory of all
    /// messages, if not that of source and destination. `refusing`: this process sends no elements,
    /// and takes none; only with persistent channels.
    void begin(const void* source, void* destination, std::byte* scratch, bool refusing);
    /// Receives message `i` of the side, if it stays within the node. Sends start with
    /// `begin_sends`, in the order of these calls.
    bool receive(std::size_t i);
    bool send(std::size_t i);
    void begin_sends();
    /// Progresses all messages; true if any has progressed.
    bool poll();
    /// Messages received since the last call; only for a start with scratch memory.
    std::vector<std::size_t> take_received() { return std::exchange(received_, {}); }
    /// Calls `found` with the rank of each sender that refused its message.
    template <class Function>
    void each_refused(const Function& found) const {
        for (std::size_t i = 0; i < receives_.size(); ++i)
            if (receives_[i] && receives_[i]->refused()) found(sender(i));
    }
    /// Copies the next chunk of local elements, unless an interleaved pass has copied it.
    bool copy_stay();
    bool finished();

    /// Whether there are only short messages over persistent channels. Then completion depends on
    /// the channels alone.
    bool all_short() const { return all_short_; }
    bool channels_done() const { return sending_.empty() && receiving_.empty(); }

    /// Aborts, and notifies all processes that wait for this one.
    void abort_use(const std::string& why);

  private:
    bool near(int rank) const { return route_.link->in_node(rank); }
    // As a text: too short for a channel that is used once.
    bool is_eager(const Message& message, int rank) const;
    int sender(std::size_t i) const { return route_.rank_of(in_->messages[i]); }
    int receiver(std::size_t i) const { return route_.rank_of(out_->messages[i]); }
    const std::byte* sent_from() const { return scratch_ != nullptr ? scratch_ : from_; }
    std::byte* received_into() const { return scratch_ != nullptr ? scratch_ : to_; }
    // Sends the address of the channel to the receiver, once.
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
    std::uint64_t stay_done_ = 0;  // chunks
    bool persistent_ = false, started_ = false, all_short_ = false, wove_ = false,
         refusing_ = false;
    // addresses of channels under way, to ranks
    std::vector<std::pair<int, std::uint64_t>> offered_;
    std::vector<std::pair<int, std::uint64_t>> eager_sends_;  // eager messages under way, to ranks
    std::vector<std::size_t> unannounced_;  // receives without a text so far, in order
    std::vector<int> silent_;               // the ranks that they wait for, during one poll
    std::vector<std::size_t> unsent_;       // messages for which there may be no memory yet
    std::size_t next_unsent_ = 0;
    std::vector<std::unique_ptr<ShmSend>> sends_;
    std::vector<std::unique_ptr<ShmReceive>> receives_;
    std::vector<std::size_t> sending_, receiving_;  // under way
    std::optional<Interleaving> interleaving_;      // once all receives are under way
    BufferBudget rings_;
};

}  // namespace hocket::transport
