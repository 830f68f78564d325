// SPDX-License-Identifier: BSD-3-Clause
// What a Transfer holds: its runner, and the starts that this process has made.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/call.hpp"
#include "hocket/transfer.hpp"
#include "transfer/executor.hpp"

namespace hocket {

class Transfer::State final : public comm::Activity, public std::enable_shared_from_this<State> {
  public:
    State(const Layout& source, const Layout& destination, const std::optional<DType>& dtype,
          const Comm& comm, const RedistributeOptions& options);

    /// The collective part of making it. `mine` has what is wrong here.
    comm::Protocol<> make(int tag, comm::CallSignature mine);
    /// @throws what is wrong with making it.
    void check();

    void start(const Array& source, const Array& destination);
    void refuse(const comm::Fault& fault);
    /// A start that a step of a flow was to make never will be; on any thread, without the turn.
    void drop(const comm::Fault& fault);
    void free();
    /// @throws Error unless a start has been made.
    void require_started() const;

    bool poll() override;
    bool ended() const override { return starts_.empty(); }
    std::string text() const override { return text_; }

  private:
    // One that this process has made: arrays, or why it has none.
    struct Start {
        const void* source = nullptr;
        void* destination = nullptr;
        std::shared_ptr<const void> keep_source, keep_destination;
        std::optional<DType> dtype;  // where none is settled
        std::optional<std::pair<transfer::LocalView, transfer::LocalView>>
            places;  // where they are others
        comm::Fault fault;
    };

    void require_startable() const;
    comm::Fault fault_of(const Array& source, const Array& destination) const;
    void push(Start start);
    void take_dropped();
    bool advance();
    bool settle(Start& start);
    void launch(Start& start);
    void pop();
    comm::Protocol<> prepare(comm::CallSignature mine, std::optional<DType> dtype);
    std::shared_ptr<const transfer::Schedule> work() const;
    trace::Track track() const;

    Layout source_, destination_;
    std::optional<DType> dtype_;
    Comm comm_;
    RedistributeOptions options_;
    std::string text_;
    plan::Options plan_;
    transfer::LocalView from_, to_;  // of the arrays that the runner is for
    transfer::Route route_;
    transfer::Stopwatch watch_;
    std::unique_ptr<transfer::Executor> runner_;
    std::optional<comm::Driven<void>> settling_;
    bool agreed_ = false;
    // The first is with the runner. More than one: those before the last were refused here, and
    // other processes have not started them yet.
    std::vector<Start> starts_;
    bool running_ = false, started_ = false, freed_ = false, listed_ = false;
    comm::Fault outcome_;       // of the last start
    std::exception_ptr error_;  // after which no start can be
    std::mutex dropping_;
    std::vector<comm::Fault> dropped_;
    std::atomic<bool> any_dropped_{false};
};

}  // namespace hocket
