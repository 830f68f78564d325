// SPDX-License-Identifier: BSD-3-Clause
// Doing the work: messages and copies of one process.
#pragma once

#include <memory>
#include <vector>

#include "comm/link.hpp"
#include "hocket/transfer.hpp"
#include "transfer/work.hpp"

namespace hocket::transfer {

/// Where a transfer takes place.
struct Route {
    comm::Link* link;
    // maps[process of the layout] = rank of the link
    std::vector<int> source, destination;
    int data_tag;  // from senders to receivers
};

/// One process's part of a transfer, run once or again and again.
class Runner {
  public:
    Runner(std::shared_ptr<const Work> work, Route route, std::shared_ptr<Profile> profile);
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Gives every message between near processes a lane that stays, so that `start` costs flags
    /// and no message. Both sides of the transfer, or none. @throws Error
    comm::Protocol<> connect();

    /// The same plan for an array of other strides; only when nothing is under way.
    void rebind(std::shared_ptr<const Work> work);

    /// Starts all that can be started without waiting; what stays on the process is copied part by
    /// part while messages fly, by `poll`. The
    /// arrays must live until it is done, and may be nullptr where the process is not on that side.
    void start(const void* source, void* destination);
    /// Serves what has come; true once nothing is left to come or to go.
    bool poll();

  private:
    bool near(int rank) const { return route_.link->near(rank); }
    int sender(std::size_t i) const;
    int receiver(std::size_t i) const;
    void send(std::size_t i);
    void receive(std::size_t i);
    void arrived(std::size_t number);
    bool copy_local();
    bool poll_near();
    bool poll_brief();
    void lap(double& seconds, const char* name);

    std::shared_ptr<const Work> work_;
    Route route_;
    std::shared_ptr<Profile> profile_;
    const void* from_ = nullptr;
    void* to_ = nullptr;
    std::uint64_t local_done_ = 0;  // parts
    double last_ = 0;
    bool brief_ = false;  // short messages over lanes and nothing else: not timed unless waited for
    std::shared_ptr<std::byte> send_buffer_, receive_buffer_;
    std::vector<LaneOffer> offers_in_, offers_out_;
    std::vector<std::unique_ptr<NearSend>> near_sends_;
    std::vector<std::unique_ptr<NearReceive>> near_receives_;
    std::vector<std::size_t> sending_, receiving_;  // near messages under way
    comm::Requests in_, out_;                       // last, so that they end before their buffers
};

/// A transfer run once.
comm::Protocol<> run(std::shared_ptr<const Work> work, const void* source_data,
                     void* destination_data, Route route, std::shared_ptr<Profile> profile);

}  // namespace hocket::transfer
