// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/transfer.hpp"

#include <utility>

#include "base/at_end.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "transfer/transfer_state.hpp"

namespace hocket {
namespace {

// A start that begins at its first poll, or is refused if it is never polled.
class Starting final : public Operation {
  public:
    Starting(std::shared_ptr<Transfer::State> state, const Array& source, const Array& destination)
        : state_(std::move(state)), arrays_(std::pair(source, destination)) {}
    ~Starting() override {
        if (arrays_) state_->drop({"Error", "this start was given up before it began"});
    }
    Starting(const Starting&) = delete;
    Starting& operator=(const Starting&) = delete;

    bool poll() override {
        if (ended_) return true;
        ended_ = true;  // unless there is no exception
        if (arrays_) {
            const auto [source, destination] = *std::exchange(arrays_, std::nullopt);
            state_->start(source, destination);
            state_->hand_over();
        }
        ended_ = state_->poll();
        return ended_;
    }
    std::string text() const override { return state_->text(); }

  private:
    std::shared_ptr<Transfer::State> state_;
    std::optional<std::pair<Array, Array>> arrays_;
    bool ended_ = false;
};

// Seconds in which the other processes must make a start that this process refuses; after that it
// raises its error without them.
constexpr double refusal_seconds = 10;

// Only this process's polls bring a refused start to the others, and it may call MPI next.
void finish_refused(Transfer::State& state) {
    try {
        if (state.is_refusing()) hocket::wait(state, Deadline::in(refusal_seconds));
    } catch (const Error&) {
        return;  // the reason for the refusal says more
    }
}

// True if it has completed, too, which it can only if `waits`.
bool start_and_poll(Transfer::State& state, const Array& source, const Array& destination,
                    bool waits) {
    try {
        const comm::EngineLock engine_lock;
        state.start(source, destination);
        if (!waits) return false;
        const base::AtEnd noted([&] { state.note_wait(); });
        return comm::done_soon(state);
    } catch (const Error&) {
        finish_refused(state);
        throw;
    }
}

}  // namespace

Transfer::Transfer(const Layout& source, const Layout& destination,
                   const std::optional<DType>& dtype, const Comm& comm,
                   const RedistributeOptions& options)
    : state_(std::make_shared<State>(source, destination, dtype, comm, options)) {
    std::shared_ptr<comm::Call> making;
    {
        const comm::EngineLock engine_lock;
        comm::CallSignature mine;
        mine.text = state_->text();
        try {
            state_->check();
        } catch (const Error&) {
            mine.fault = comm::Fault::current();
        }
        making = std::make_shared<comm::Call>(
            state_->make(comm.state().next_tag(), std::move(mine)), state_->text());
        comm::Engine::instance().add(making);
    }
    hocket::wait(*making, options.deadline);
}

void Transfer::start(const Array& source, const Array& destination) {
    static_cast<void>(start_and_poll(*state_, source, destination, false));
}

void Transfer::refuse(const std::string& kind, const std::string& message) {
    const comm::Fault fault{kind, message.empty() ? "no reason was given" : message};
    {
        const comm::EngineLock engine_lock;
        state_->refuse(fault);
    }
    finish_refused(*state_);
    fault.raise();
}

void Transfer::operator()(const Array& source, const Array& destination, Deadline deadline) {
    // Most small transfers complete within the engine's turn of their start. Another turn would
    // take as long as a flag takes to the other process.
    if (!start_and_poll(*state_, source, destination, !comm::must_not_block())) wait(deadline);
}

void Transfer::wait(Deadline deadline) {
    state_->require_started();
    const base::AtEnd noted([this] { state_->note_wait(); });
    hocket::wait(*state_, deadline);
}

bool Transfer::test() {
    state_->require_started();
    const base::AtEnd noted([this] { state_->note_wait(); });
    return hocket::poll(*state_);
}

void Transfer::free() {
    const comm::EngineLock engine_lock;
    state_->free();
}

std::shared_ptr<Operation> Transfer::operation() const {
    state_->require_started();
    state_->hand_over();
    return state_.pointer();
}

std::shared_ptr<Operation> Transfer::start_later(const Array& source,
                                                 const Array& destination) const {
    return std::make_shared<Starting>(state_, source, destination);
}

}  // namespace hocket
