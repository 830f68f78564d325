// SPDX-License-Identifier: BSD-3-Clause
// The state of a Transfer: its runner, and the starts that this process has made.
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

    /// The collective part of the creation. `mine` has this process's error.
    comm::Protocol<> make(int tag, comm::CallSignature mine);
    /// @throws the error of the creation.
    void check();

    void start(const Array& source, const Array& destination);
    void refuse(const comm::Fault& fault);
    /// A step of a flow will not make its start; on any thread, without the turn.
    void drop(const comm::Fault& fault);
    void free();
    /// @throws Error unless there was a start.
    void require_started() const;
    /// The program has waited for the last start, or tested it.
    void note_wait() { awaited_ = ended(); }
    /// An operation waits for the last start, in place of the program.
    void hand_over() { awaited_ = true; }
    /// Whether this process has refused a start that the others have not ended yet.
    bool is_refusing() const;

    bool poll() override;
    bool ended() const override { return starts_.empty(); }
    std::string text() const override { return text_; }

  private:
    // A start of this process: its arrays, or the reason why it has none.
    struct RequestedStart {
        const void* source = nullptr;
        void* destination = nullptr;
        std::shared_ptr<const void> keep_source, keep_destination;
        std::optional<DType> dtype;  // if the transfer has no type yet
        std::optional<std::pair<transfer::LocalView, transfer::LocalView>>
            views;  // if they differ from the last ones
        comm::Fault fault;
    };

    void require_startable() const;
    comm::Fault fault_of(const Array& source, const Array& destination) const;
    void push(RequestedStart start);
    void take_dropped();
    bool advance();
    bool settle(RequestedStart& start);
    void launch(RequestedStart& start);
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
    transfer::LocalView from_, to_;  // of the arrays for which the runner was made
    transport::Route route_;
    transfer::Stopwatch watch_;
    std::unique_ptr<transfer::Executor> runner_;
    std::optional<comm::Driven<void>> settling_;
    bool agreed_ = false;
    // The first start is with the runner. Further ones: this process refused those before the last,
    // and other processes have not made them yet.
    std::vector<RequestedStart> starts_;
    bool running_ = false, started_ = false, freed_ = false, listed_ = false;
    bool awaited_ = true;  // the last start: its end alone, which processes see at different times,
                           // permits no next one
    comm::Fault outcome_;  // of the last start
    std::exception_ptr error_;  // no start is possible after it
    std::mutex dropping_;
    std::vector<comm::Fault> dropped_;
    std::atomic<bool> any_dropped_{false};
};

}  // namespace hocket
