// SPDX-License-Identifier: BSD-3-Clause
// The program's interface: requests, one shot and persistent.
#include <algorithm>
#include <optional>
#include <utility>

#include "comm/engine.hpp"
#include "comm/loss_detector.hpp"
#include "comm/polled.hpp"
#include "hocket/task.hpp"
#include "task/decision.hpp"
#include "task/exchange.hpp"
#include "task/member.hpp"
#include "task/persistent.hpp"

namespace hocket {
namespace {

task::Pending& pending_of(const Request& request) {
    if (request.empty()) throw Error("the request is empty: no operation was started with it");
    return *request.pending();
}

// The error of a wait for it, if there is one.
comm::Fault fault_of_start(const task::Pending& pending) {
    try {
        if (pending.persistent) pending.persistent->require_started();
        return {};
    } catch (const Error&) {
        return comm::Fault::current();
    }
}

task::Persistent& persistent_of(const Request& request, const char* call) {
    task::Pending& pending = pending_of(request);
    if (!pending.persistent)
        throw Error(std::string(call) +
                    ": the request is not persistent; make one with send_init or recv_init");
    return *pending.persistent;
}

}  // namespace

Status task::finish(Pending& pending, const Deadline& deadline) {
    if (pending.persistent) pending.persistent->require_started();
    if (pending.later && !pending.later->begun())
        throw Error(pending.call->text() + ": it has not begun; start the request first");
    if (pending.call->ended())
        static_cast<void>(pending.call->poll());  // raises its error
    else
        wait(*pending.call, deadline);
    if (pending.persistent) pending.persistent->note_wait();
    return **pending.found;
}

void task::wait_for(Pending& pending, std::int64_t pieces, const Deadline& deadline) {
    const auto poll = [&] {
        if (!pending.call->ended()) static_cast<void>(pending.call->poll());
        if (pending.call->ended()) static_cast<void>(pending.call->poll());  // raises its error
        return pending.call->ended() || (*pending.pieces && (*pending.pieces)->done >= pieces);
    };
    const auto text = [&] {
        return (pieces == 0 ? "the first word of: "
                            : "piece " + std::to_string(pieces - 1) + " of: ") +
               pending.call->text();
    };
    comm::FunctionOperation reached(poll, text);
    wait(reached, deadline);
}

task::Cut task::cut_of(Pending& pending, const Deadline& deadline) {
    if (pending.persistent) pending.persistent->require_started();
    if (!pending.pieces)
        throw Error("a persistent request has no pieces; start it, and wait for the whole array");
    wait_for(pending, 0, deadline);
    return pending.pieces->value_or(Cut());
}

Status task::finish_or_break(Pending& pending, const Deadline& deadline, int other) {
    try {
        return finish(pending, deadline);
    } catch (const DeadlineError& error) {
        if (other >= 0) pending.member->break_pair(other, error.what());
        throw;
    } catch (...) {
        if (pending.call->ended()) throw;
        if (other >= 0) pending.member->break_pair(other, "interrupted");
        if (pending.given_up) {  // otherwise it would take a message for a later call
            const comm::EngineLock engine_lock;
            *pending.given_up = true;
            comm::Engine::instance().progress();
        }
        throw;
    }
}

Deadline task::with_grace(const Deadline& deadline) {
    constexpr double grace = 1.0;  // seconds
    return deadline.limited() ? deadline.later(grace) : deadline;
}

Status Request::wait(Deadline deadline) {
    return task::finish(pending_of(*this), deadline);
}

bool Request::test() {
    task::Pending& pending = pending_of(*this);
    bool done = false;
    {
        const comm::EngineLock engine_lock;
        comm::Engine::instance().progress_once();
        done = pending.call->ended();
    }
    // The lowest process decides; if the operation is complete there, it will soon be here.
    const auto find = [done] { return std::optional<std::int64_t>(done ? 1 : 0); };
    const auto text = [me = pending.member] {
        return "task '" + me->name() + "' waits for the decision of its lowest process";
    };
    if (task::choose(pending.member, "test", 2, find, text, fault_of_start(pending), {}) == 0) {
        comm::check_losses(*pending.call);
        return false;
    }
    static_cast<void>(task::finish(pending, {}));
    return true;
}

std::int64_t Request::pieces(Deadline deadline) {
    return task::cut_of(pending_of(*this), deadline).count();
}

ArrayPiece Request::wait_piece(std::int64_t piece, Deadline deadline) {
    task::Pending& pending = pending_of(*this);
    const task::Cut cut = task::cut_of(pending, deadline);
    if (piece < 0 || piece >= cut.count())
        throw Error("there is no piece " + std::to_string(piece) +
                    "; the transfer has pieces 0 to " + std::to_string(cut.count() - 1));
    task::wait_for(pending, piece + 1, deadline);
    return cut.piece(piece);
}

Status Request::status() const {
    if (!empty() && pending_->persistent) pending_->persistent->require_started();
    if (empty() || !pending_->call->ended() || (pending_->persistent && !*pending_->found))
        throw Error("the request has no status yet; wait for it, or test it until it is done");
    static_cast<void>(pending_->call->poll());  // raises its error
    return **pending_->found;
}

std::shared_ptr<Operation> Request::operation() const {
    const task::Pending& pending = pending_of(*this);
    if (!pending.persistent) return comm::polled(pending.call);
    const auto poll = [request = pending.persistent] {
        const comm::EngineLock engine_lock;
        const bool done = request->poll();
        if (done) request->note_wait();
        return done;
    };
    return std::make_shared<comm::FunctionOperation>(
        poll, [request = pending.persistent] { return request->text(); });
}

void Request::start() {
    if (const auto& pending = pending_of(*this); pending.later) {
        const comm::EngineLock engine_lock;
        pending.later->begin();
        return;
    }
    task::Persistent& persistent = persistent_of(*this, "start");
    const comm::EngineLock engine_lock;
    persistent.start(nullptr);
}

void Request::start(const Array& array) {
    task::Persistent& persistent = persistent_of(*this, "start");
    const comm::EngineLock engine_lock;
    persistent.start(&array);
}

void Request::free() {
    task::Persistent& persistent = persistent_of(*this, "free");
    const comm::EngineLock engine_lock(
        comm::EngineLock::waiting);  // local, so also after MPI has ended
    persistent.free();
}

bool Request::persistent() const {
    return !empty() && pending_->persistent != nullptr;
}

std::vector<Status> wait_all(std::span<Request> requests, Deadline deadline) {
    std::vector<Status> found;
    for (auto& request : requests) found.push_back(request.wait(deadline));
    return found;
}

std::size_t wait_any(std::span<Request> requests, Deadline deadline) {
    if (requests.empty()) throw Error("waitany was given no request, so none can ever be done");
    std::vector<std::shared_ptr<comm::Activity>> calls;
    comm::Fault fault;
    for (const auto& request : requests) {
        const task::Pending& pending = pending_of(request);
        calls.push_back(pending.call);
        if (!fault) fault = fault_of_start(pending);
    }
    const auto& me = requests[0].pending()->member;
    const auto text = [me, first = calls[0], count = calls.size()] {
        return "task '" + me->name() + "' waits for any of " + std::to_string(count) +
               " requests, the first of which: " + first->text();
    };
    const auto count = static_cast<std::int64_t>(calls.size());
    auto find = [calls = std::move(calls)]() -> std::optional<std::int64_t> {
        const auto it = std::find_if(calls.begin(), calls.end(),
                                     [](const auto& call) { return call->ended(); });
        if (it == calls.end()) return std::nullopt;
        return it - calls.begin();
    };
    const auto index = static_cast<std::size_t>(
        task::choose(me, "waitany", count, std::move(find), text, fault, deadline));
    // It is complete on the lowest process, so it will soon be here.
    requests[index].wait(task::with_grace(deadline));
    return index;
}

Request Tasks::init(bool sending, const Array* array, const Layout& layout, const TaskId& other,
                    const InitOptions& options) {
    const char* verb = sending ? "send_init" : "recv_init";
    task::Member& me = speaker(verb);
    const DType dtype = array != nullptr ? array->dtype() : DType{"", 0};
    task::MessageCall call{sending, {{layout, dtype.name, dtype.size}}, -1, options.tag, {}};
    call.requested = {options.strategy, options.stages, 0, {}};
    call.once = options.count == 1;
    try {
        if (other == TaskId(any_source))
            throw Error(std::string(verb) + ": a persistent request takes no wildcard; name the " +
                        (sending ? "receiving" : "sending") + " task");
        call.other = state_->index(other);
        if (options.tag < 0)
            throw Error(std::string(verb) + ": tag is " + std::to_string(options.tag) +
                        "; a persistent request has a tag of 0 or more, and no wildcard");
        if (options.count && *options.count < 1)
            throw Error(std::string(verb) + ": count is " + std::to_string(*options.count) +
                        "; say how often it will be started, 1 or more, or nothing");
        call.requested.check(1);
        if (sending) call.requested.model = task::model_text(call.requested);
        me.require_intact(call.other, verb);
        if (array != nullptr) {
            call.fault = task::fault_of(me, *array, !sending);
        } else if (layout.size() > me.group.size()) {
            throw LayoutError("the layout " + layout.text() + " has " +
                              std::to_string(layout.size()) + " processes, but task '" + me.name() +
                              "' has " + std::to_string(me.group.size()));
        }
    } catch (const Error&) {
        call.fault = comm::Fault::current();
    }
    const comm::EngineLock engine_lock;
    auto bound = array != nullptr ? std::optional(*array) : std::nullopt;
    auto persistent =
        std::make_shared<task::Persistent>(state_, speaker_, std::move(call), std::move(bound));
    return Request(std::make_shared<task::Pending>(
        task::Pending{speaker_, persistent->found(), persistent, persistent, nullptr}));
}

void Tasks::init_persistent(bool sending, const TaskId& other, int tag, const comm::Fault& fault) {
    static_cast<void>(speaker(sending ? "send_init" : "recv_init"));
    task::MessageCall call{sending, {{Layout({0}, "(*)"), "", 0}}, state_->find(other), tag, fault};
    std::shared_ptr<task::Persistent> refused;
    {
        const comm::EngineLock engine_lock;
        refused =
            std::make_shared<task::Persistent>(state_, speaker_, std::move(call), std::nullopt);
    }
    // The fault travels up the task's tree when this process polls, which may not happen again for
    // long.
    constexpr double while_others_come = 1.0;  // seconds
    try {
        wait(*refused->preparation(), Deadline::in(while_others_come));
    } catch (const Error&) {
        return;  // the caller raises the fault
    }
}

Request Tasks::send_init(const Array& array, const TaskId& destination,
                         const InitOptions& options) {
    return init(true, &array, array.layout(), destination, options);
}
Request Tasks::send_init(const Layout& layout, const TaskId& destination,
                         const InitOptions& options) {
    return init(true, nullptr, layout, destination, options);
}
Request Tasks::recv_init(const Array& array, const TaskId& source, const InitOptions& options) {
    return init(false, &array, array.layout(), source, options);
}
Request Tasks::recv_init(const Layout& layout, const TaskId& source, const InitOptions& options) {
    return init(false, nullptr, layout, source, options);
}

}  // namespace hocket
