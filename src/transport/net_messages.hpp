// SPDX-License-Identifier: BSD-3-Clause
// Messages that a link carries: by MPI between nodes, by a stream of bytes to another job.
#pragma once

#include "transport/net_pieces.hpp"
#include "transport/transport.hpp"

namespace hocket::transport {

class NetMessages final : public Transport {
  public:
    /// `sends`, `receives`: the numbers of its messages.
    NetMessages(const Schedule& schedule, std::vector<std::size_t> sends,
                std::vector<std::size_t> receives, const Route& route, std::int64_t most);

    void connect() override;
    bool connected() override { return true; }
    void rebind(const Schedule& schedule) override;
    void begin(ScheduleRun& run) override;
    void send(std::size_t end) override { out_.open(end); }
    std::optional<std::int64_t> start_next() override;
    bool poll() override;
    bool finished() override { return out_.finished() && in_.finished(); }
    /// Requests end with this object; the other ends learn it from the link, or from a deadline.
    void abort(const std::string&) override {}

  private:
    bool window_full() const;

    NetPieces out_, in_;
    ScheduleRun* run_ = nullptr;
};

}  // namespace hocket::transport
