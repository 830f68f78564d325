// SPDX-License-Identifier: BSD-3-Clause
// Messages to and from processes of the node, each as a text or over a channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/interleave.hpp"
#include "transport/shm_message.hpp"
#include "transport/transport.hpp"

namespace hocket::transport {

class NodeMessages final : public Transport {
  public:
    /// `most`: bytes of rings.
    NodeMessages(const Schedule& schedule, const Route& route, std::int64_t most);

    void connect() override;  ///< gives every message a persistent channel
    bool connected() override;
    bool short_only() const override { return short_only_; }
    void rebind(const Schedule& schedule) override;
    void begin(ScheduleRun& run) override;
    void send(std::size_t end) override;
    bool poll() override;
    bool finished() override;
    void abort(const std::string& why) override;

  private:
    using Numbers = std::vector<std::size_t>;  // of messages
    // Texts under way: each one's receiver, and its number for Link::delivered_in_node.
    using Texts = std::vector<std::pair<int, std::uint64_t>>;

    const Message& sent(std::size_t i) const { return schedule_->sends[i]; }
    const Message& received(std::size_t i) const { return schedule_->receives[i]; }
    /// Calls `visit(i)` for each send, or receive, whose peer is in the node.
    template <class Visit>
    void each_send(const Visit& visit) const {
        for (std::size_t i = 0; i < outgoing_.size(); ++i)
            if (route_.in_node(sent(i))) visit(i);
    }
    template <class Visit>
    void each_receive(const Visit& visit) const {
        for (std::size_t i = 0; i < incoming_.size(); ++i)
            if (route_.in_node(received(i))) visit(i);
    }
    // As a text: too short for a channel that is used once.
    bool is_eager(const Message& message) const;
    // Sends the address of the channel to the receiver, once.
    void offer(std::size_t i);
    bool accept_offers();
    void begin_receive(std::size_t i);
    void begin_sends();
    bool all_delivered(Texts& texts);
    // Copies the next chunk of all receives and of local elements together; first, the chunks that
    // some of them lack. False if nothing interleaves now: then each proceeds separately.
    bool interleave();
    std::size_t stream_count() const;
    const Chunks& stream(std::size_t i) const;
    void prepare_interleaving();
    // The bytes that one more ring may have; one ring is always possible.
    std::int64_t free_bytes() const;
    bool poll_receives();
    bool poll_sends();

    const Schedule* schedule_;
    const Route& route_;
    ScheduleRun* run_ = nullptr;
    bool persistent_ = false, short_only_ = false;
    Texts offers_, eager_sends_;
    Numbers unannounced_;               // receives without a text so far, in order
    std::vector<int> awaited_;          // the ranks that they wait for, during one poll
    std::size_t given_ = 0, next_ = 0;  // sends before these are given to it, and have begun
    std::vector<std::unique_ptr<ShmSend>> outgoing_;  // by number; none: eager, or not its own
    std::vector<std::unique_ptr<ShmReceive>> incoming_;
    Numbers sending_, receiving_;  // under way
    // Interleaved copies, one a chunk (empty: nothing interleaves), and the streams for which they
    // were made. During a step: the sources of one chunk, and the receives that have taken it.
    std::vector<std::optional<kernel::InterleavedCopy>> interleaved_;
    std::vector<const Chunks*> interleaved_streams_;
    std::vector<const std::byte*> sources_;
    std::vector<ShmReceive*> taken_;
    std::int64_t most_, held_ = 0;  // bytes of rings: the bound, and those that sends hold
};

}  // namespace hocket::transport
