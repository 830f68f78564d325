// SPDX-License-Identifier: BSD-3-Clause
// Messages under way, without <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/endpoint.hpp"
#include "comm/protocol.hpp"

namespace hocket::comm {

/// A batch of messages that a Link has started. As a condition it holds once all are complete.
class Requests final : public Condition {
  public:
    Requests();
    ~Requests() override;
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;

    /// Messages added from here on belong to this group (a number from 0 on).
    void begin_group(std::size_t group) { group_ = group; }
    /// Polls; the groups whose last message has just ended, each once. The span is good until the
    /// next call. @throws Error for an MPI error; PeerLostError naming a process of another job.
    std::span<const std::size_t> newly_done();
    /// From now on checks the lengths of messages, which costs a little: of the groups that
    /// `newly_done` has just returned, those with an empty message.
    void watch_lengths() { lengths_ = true; }
    std::span<const std::size_t> newly_empty() const { return empty_; }
    bool all_done() const { return pending_ == 0 && in_node_.empty(); }
    bool holds() override;

    struct Batch;  // the MPI requests
    Batch& batch();
    void added();  ///< called by Link, which has just appended to the batch
    /// Called by Link: complete when `delivered` is true. `process`: the one whose queue is full.
    void add_in_node(std::function<bool()> delivered, std::int64_t process);
    /// Called by Link, which has started the message.
    void add(std::shared_ptr<Endpoint> endpoint, Endpoint::Handle message);

  private:
    void count();
    void end_of(std::size_t group);
    void poll_endpoints();
    void cancel_on_endpoints();
    std::unique_ptr<Batch> batch_;  // none before the first: texts in shared memory have none
    std::size_t pending_ = 0, group_ = 0;
    std::vector<std::size_t> left_;  // remaining messages of each group
    std::vector<std::size_t> done_, empty_;
    bool lengths_ = false;
    struct InNodeText {
        std::function<bool()> delivered;
        std::int64_t process;
    };
    std::vector<InNodeText> in_node_;  // texts for which a queue was full
    struct OnEndpoint {
        std::shared_ptr<Endpoint> endpoint;
        Endpoint::Handle message;
        std::size_t group;
    };
    std::vector<OnEndpoint> on_endpoints_;
};

}  // namespace hocket::comm
