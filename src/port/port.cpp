// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/port.hpp"

#include <algorithm>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/engine.hpp"
#include "comm/interrupts.hpp"
#include "port/host.hpp"
#include "port/state.hpp"

namespace hocket {
namespace port {
namespace {

// Seconds between two receptions of messages. A process that receives at every poll would make
// fewer polls than the others, which then wait for it at the agreed one.
constexpr double between_receptions = 0.001;

// A collective call: `check` finds faults on this process; `act` runs on process 0 once no process
// has a fault. All processes receive its result.
comm::Protocol<> agreed(Comm on, int tag, comm::CallSignature mine,
                        std::function<std::string()> act, std::shared_ptr<std::string> outcome) {
    const std::string text = mine.text;
    co_await on.state().open();
    const comm::Group all = comm::Group::whole(on.state().link());
    co_await comm::agree(all, tag, std::move(mine));
    if (!act) co_return;
    comm::CallSignature second;
    second.text = text;
    if (on.rank() == 0) {
        try {
            second.payload = act();
        } catch (const std::exception&) {
            second.fault = comm::Fault::current();
        }
    }
    *outcome = co_await comm::agree(all, tag, std::move(second));
}

}  // namespace

std::string together(const Comm& comm, const std::string& text, const std::function<void()>& check,
                     std::function<std::string()> act, Deadline deadline) {
    comm::CallSignature mine;
    mine.text = text;
    try {
        check();
    } catch (const std::exception&) {
        mine.fault = comm::Fault::current();
    }
    auto outcome = std::make_shared<std::string>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(
            agreed(comm, comm.state().next_tag(), std::move(mine), std::move(act), outcome), text);
        comm::Engine::instance().add(call);
    }
    wait(*call, deadline);
    return *outcome;
}

namespace {

comm::Protocol<> make_link(std::shared_ptr<State> state) {
    state->link = co_await state->comm.state().new_link();
}

// Process 0 serves its observers also while it waits for something else.
class Serving final : public Operation {
  public:
    explicit Serving(std::weak_ptr<State> state) : state_(std::move(state)) {}
    bool poll() override {
        const auto state = state_.lock();
        if (!state || !state->host) return true;
        const double now = comm::coarse_seconds();
        if (now >= state->next_check) {
            state->next_check = now + between_receptions;
            state->host->advance(false);
        }
        return false;
    }
    bool leave() override { return true; }
    std::string text() const override { return "observers"; }

  private:
    std::weak_ptr<State> state_;
};

// Waits for the decision of process 0 about this process's current poll.
class Decision final : public Operation {
  public:
    explicit Decision(State& state) : state_(state) {}
    bool poll() override {
        state_.receive();
        // Called off, it may be another poll by now.
        const bool known =
            !state_.agreed || state_.agreed->decided || state_.agreed->poll != state_.polls;
        if (!known) state_.link->need(0);
        return known;
    }
    std::string text() const override {
        return "poll " + std::to_string(state_.polls) + " of the port '" + state_.name +
               "', at which somebody looks";
    }

  private:
    State& state_;
};

comm::Protocol<> finished(std::shared_ptr<State> state) {
    comm::When all_sent([&] {
        state->sending.remove_if([](const auto& one) { return one->poll(); });
        return state->sending.empty();
    });
    if (state->first()) {
        comm::When done([&] {
            state->host->advance(false);
            return state->host->finish();
        });
        co_await comm::until(done);
        state->host->end("it has ended");
        for (int rank = 1; rank < state->comm.size(); ++rank)
            state->send(rank, State::from_root, end_message());
    } else {
        comm::When last([&] {
            state->receive();
            return state->end_received;
        });
        co_await comm::until(all_sent);
        co_await comm::until(last);
    }
    state->host.reset();
    state->from_first.reset();
    state->link.reset();
}

}  // namespace

const Array* State::array(const std::string& wanted) const {
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const auto& one) { return one.first == wanted; });
    return found == arrays.end() ? nullptr : &found->second;
}

std::shared_ptr<Value> State::parameter(const std::string& wanted) const {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const auto& one) { return one.first == wanted; });
    return found == parameters.end() ? nullptr : found->second;
}

void State::require_open() const {
    if (closed) throw Error("the port '" + name + "' was closed; open it again");
}

void State::send(int to, int tag, const std::string& text) {
    begin(std::make_shared<comm::Call>(comm::send_text(*link, text, to, tag),
                                       "a text of the port '" + name + "'"));
}

void State::begin(const std::shared_ptr<comm::Call>& call) {
    if (!call->poll()) comm::Engine::instance().post_background(call);
}

}  // namespace port

using port::State;

const std::string& Parameter::name() const {
    return name_;
}

Value Parameter::value() const {
    return *value_;
}

Port Port::open(const std::string& name, const Comm& comm, const PortOptions& options) {
    auto state = std::make_shared<State>(comm);
    state->name = name;
    state->task = options.task.empty() ? name : options.task;
    state->secure = options.secure;
    const std::string outcome = port::together(
        comm, "open_port('" + name + "')",
        [&] {
            if (!options.task.empty() && options.task != name && !net::is_name(options.task))
                throw Error(text::quoted(options.task) +
                            " is no name of a task here; give 1 to 64 letters, digits, '.', '_', "
                            "'-'");
        },
        [state, options] {
            state->host = std::make_shared<port::Host>(
                *state, port::EntryOptions{state->name, options.address, options.key,
                                           options.secure, state->comm.size()});
            net::Writer writer;
            const net::PortFile& file = state->host->file();
            writer.text(file.address).text(file.key).text(file.socket);
            return writer.str();
        },
        options.deadline);
    net::Reader reader(outcome);
    state->address = reader.text(net::longest_text);
    state->key = reader.text(net::longest_text);
    state->socket = reader.text(net::longest_text);
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(port::make_link(state), "opening a port");
        comm::Engine::instance().add(call);
    }
    wait(*call, options.deadline);
    const comm::EngineLock engine_lock;
    if (state->first())
        comm::Engine::instance().post_background(std::make_shared<port::Serving>(state));
    else
        state->from_first.emplace(*state->link, 0, State::from_root);
    return Port(std::move(state));
}

const std::string& Port::name() const {
    return state_->name;
}

const std::string& Port::address() const {
    return state_->address.empty() ? state_->socket : state_->address;
}

const std::string& Port::key() const {
    return state_->key;
}

const Comm& Port::comm() const {
    return state_->comm;
}

std::int64_t Port::polls() const {
    return state_->polls;
}

void Port::poll(Deadline deadline) {
    State& state = *state_;
    state.require_open();
    ++state.polls;
    const double now = comm::coarse_seconds();
    const bool expects = state.agreed && state.agreed->poll <= state.polls;
    if (!expects && now < state.next_check) return;
    {
        const comm::EngineLock engine_lock;
        state.next_check = now + port::between_receptions;
        state.free_unused(now);
        if (state.host) {
            const double began = platform::thread_seconds();
            bool serves = state.host->serves();
            state.host->advance(true);
            serves = serves || state.host->serves();
            if (state.agreed && state.agreed->poll == state.polls) state.host->settle();
            if (serves) state.host->charge(platform::thread_seconds() - began);
            return;
        }
        state.receive();
        if (!state.agreed || state.agreed->poll != state.polls) return;
    }
    port::Decision decision(state);
    wait(decision, deadline);
    const comm::EngineLock engine_lock;
    if (!state.agreed || state.agreed->poll != state.polls) return;
    const port::AgreedPoll agreed = *std::exchange(state.agreed, std::nullopt);
    port::carry_out(state, agreed.batch);
}

void Port::close(Deadline deadline) {
    State& state = *state_;
    port::together(
        state.comm, "close of the port '" + state.name + "'", [&] { state.require_open(); }, {},
        deadline);
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        state.closed = true;
        call = std::make_shared<comm::Call>(port::finished(state_),
                                            "close of the port '" + state.name + "'");
        comm::Engine::instance().add(call);
    }
    wait(*call, deadline);
    state.arrays.clear();
}

}  // namespace hocket
