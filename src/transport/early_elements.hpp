// SPDX-License-Identifier: BSD-3-Clause
// Messages whose elements travel before their call is agreed on: with the text that describes it.
#pragma once

#include <cstddef>
#include <string>

#include "transport/transport.hpp"

namespace hocket::transport {

/// Appends the elements of a schedule's messages to send, from this memory, one message after the
/// other.
void append_early(std::string& elements, const Schedule& schedule, const std::byte* memory);

/// A run whose sends have left by `append_early`, and whose receives have come, as
/// `Route::early`.
class EarlyElements final : public Transport {
  public:
    EarlyElements(const Schedule& schedule, const Route& route)
        : schedule_(&schedule), route_(route) {}

    void connect() override {}
    bool connected() override { return true; }
    void rebind(const Schedule& schedule) override { schedule_ = &schedule; }
    void begin(ScheduleRun& run) override;
    void send(std::size_t) override {}
    bool poll() override { return false; }
    bool finished() override { return true; }
    void abort(const std::string&) override {}

  private:
    const Schedule* schedule_;
    const Route& route_;
};

}  // namespace hocket::transport
