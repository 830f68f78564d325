// SPDX-License-Identifier: BSD-3-Clause
#include "task/persistent.hpp"

#include "base/pack.hpp"
#include "comm/engine.hpp"
#include "task/byte_order.hpp"
#include "task/exchange.hpp"
#include "task/rendezvous.hpp"
#include "transfer/check.hpp"

namespace hocket::task {

struct Persistent::Prepared {
    std::optional<DType> dtype;
    transfer::LocalView view;  // of the array for which the runner was made
    std::optional<Layout> source, destination;
    transport::Route route;
    RequestedOptions negotiated;
    transfer::Stopwatch watch{nullptr};
    std::unique_ptr<transfer::Executor> runner;
};

namespace {

constexpr const char* stream = "persistent requests";

// On the lowest process: what the other task's says.
Protocol<Reply> exchange_types(All all, Me me, const PersistentCall& call, const DType& mine,
                               std::int64_t send, Fault fault) {
    Reply own{std::move(fault), {}};
    own.other.descriptors.push_back({std::nullopt, mine.name, mine.size});
    const int source = call.sending ? me->task : call.other;
    // One message each way: the sender uses the data's tag, the receiver the reply's.
    const int data = me->tags.data(source, send), reply = me->tags.reply(source, send);
    const int there = me->lowest_of(call.other);
    // A task may communicate with itself, and a message to the same process may not complete before
    // it is received.
    const std::string text_out = own.packed();
    comm::Requests requests;
    all->link->send_text(requests, text_out, there, call.sending ? data : reply);
    comm::TextMessage message =
        co_await comm::receive_text(*all->link, there, call.sending ? reply : data);
    co_await comm::until(requests);
    Reply theirs = Reply::unpacked(message.text);
    const ArrayDescriptor& form = theirs.other.descriptors.at(0);
    if (own.fault) {
        theirs.fault = own.fault;
    } else if (!theirs.fault && (form.dtype != mine.name || form.itemsize != mine.size)) {
        theirs.fault.kind = "MismatchError";
        theirs.fault.message = task_text(*all, source) + " starts a persistent send of " +
                               (call.sending ? mine.name : form.dtype) + " to " +
                               task_text(*all, call.sending ? call.other : me->task) +
                               ", which receives " + (call.sending ? form.dtype : mine.name) +
                               "; make the receiving array match";
    }
    co_return theirs;
}

// Agrees on the type of the first start between the two tasks, because one of them did not set it
// with the request. Raises on every process of both for a mismatch on any process.
Protocol<> settle_type(All all, Me me, PersistentCall call, DType mine, int tree_tag,
                       std::int64_t send) {
    comm::CallSignature signature;
    signature.text = "start(" + mine.name + ")";
    comm::CallSignature negotiate =
        co_await comm::collect(me->group, tree_tag, std::move(signature));
    Reply settled;
    if (me->group.lowest()) {
        try {
            Reply both = co_await exchange_types(all, me, call, mine, send, negotiate.fault);
            settled = std::move(both);
        } catch (const std::exception&) {  // only this process of its task has noticed
            settled.fault = Fault::current();
        }
    }
    const std::string outcome = co_await comm::broadcast(me->group, tree_tag, settled.packed());
    const Reply answer = Reply::unpacked(outcome);
    if (answer.fault) answer.fault.raise();
}

std::shared_ptr<const transfer::Schedule> work_for(const Persistent::Prepared& it, bool sending) {
    plan::Options options;
    options.itemsize = it.dtype->size;
    options.strategy = it.negotiated.strategy;
    options.stages = it.negotiated.stages;
    const transfer::LocalView nowhere;
    return transfer::cached_schedule(*it.source, *it.destination, options,
                                     sending ? it.view : nowhere, sending ? nowhere : it.view);
}

ArrayDescriptor form_of(const PersistentCall& call) {
    const DType dtype = call.dtype.value_or(DType{"", 0});
    return {call.layout, dtype.name, dtype.size};
}

MessageCall message_of(const PersistentCall& call) {
    MessageCall message{call.sending, {form_of(call)}, call.other,     call.tag,
                        call.fault,   stream,          call.requested, call.options.count == 1};
    // The other task has prepared its side, too, so it gets the error, if this side names it.
    message.abandoned = call.fault && call.other >= 0 && call.tag >= 0;
    return message;
}

// Of the preparation and of each start.
trace::Track track_of(const Tasks::State& all, const PersistentCall& call, const char* stage) {
    if (!trace::enabled()) return {};
    const std::string verb = std::string(call.sending ? "send" : "recv") + stage;
    const std::span<const Array> arrays{call.array ? &*call.array : nullptr, call.array ? 1u : 0u};
    return task::track_of(verb, all, message_of(call), arrays);
}

Protocol<> prepare(All all, Me me, PersistentCall call, std::int64_t ticket,
                   std::int64_t persistent_id, int tree_tag, int type_tag,
                   std::shared_ptr<Persistent::Prepared> it) {
    it->watch = transfer::Stopwatch(all->profile, track_of(*all, call, "_init"));
    MessageCall message = message_of(call);
    message.persistent_id = persistent_id;
    const Reply answer =
        co_await rendezvous(all, me, std::move(message), tree_tag, ticket, it->watch);
    const Envelope& other = answer.other;
    it->negotiated = answer.negotiated;
    const std::int64_t send = call.sending ? ticket : other.send;
    if (!call.sending) persistent_id = other.persistent_id;
    comm::When typed([&] { return it->dtype.has_value(); });
    co_await comm::until(typed);
    if (!call.dtype || other.descriptors.at(0).dtype.empty())
        co_await settle_type(all, me, call, *it->dtype, type_tag, send);

    it->watch.restart();
    const Layout there = other.descriptors.at(0).value();
    it->source = call.sending ? call.layout : there;
    it->destination = call.sending ? there : call.layout;
    const int source = call.sending ? me->task : call.other;
    const int destination = call.sending ? call.other : me->task;
    it->route = {all->link.get(),
                 all->ranks[static_cast<std::size_t>(source)],
                 all->ranks[static_cast<std::size_t>(destination)],
                 me->tags.persistent_id(source, persistent_id),
                 persistent_id,
                 0,
                 me->tags.persistent_among(Side::source, source, persistent_id),
                 me->tags.persistent_among(Side::destination, source, persistent_id),
                 number_bytes(it->dtype->name, it->dtype->size)};
    it->runner =
        std::make_unique<transfer::Executor>(work_for(*it, call.sending), it->route, it->watch);
    it->watch.lap(&Profile::schedule);
    // For a single start, as either side announces it, permanent channels do not pay.
    if (call.options.count != 1 && !other.once) co_await it->runner->connect();
    it->watch.end();
}

}  // namespace

Persistent::Persistent(All all, Me me, PersistentCall call)
    : all_(std::move(all)),
      me_(std::move(me)),
      call_(std::move(call)),
      prepared_(std::make_shared<Prepared>()),
      found_(std::make_shared<std::optional<Status>>()) {
    text_ = "task '" + me_->name() + "' " + (call_.sending ? "sends " : "receives ") +
            array_text(call_.dtype ? call_.dtype->name : "", call_.layout.shape()) +
            (call_.sending ? " to " : " from ") + task_text(*all_, call_.other) + " with " +
            tag_text(call_.tag) + ", persistently";
    prepared_->dtype = call_.dtype;
    if (call_.array) prepared_->view = transfer::local_view_of(*call_.array);
    const int tree_tag = me_->tags.tree(me_->task, me_->calls++);
    const int type_tag = me_->tags.tree(me_->task, me_->calls++);
    const std::int64_t ticket = call_.sending ? me_->sends.ticket() : me_->receives.ticket();
    const std::int64_t persistent_id = call_.sending ? me_->persistent_id++ : 0;
    preparation_ = std::make_shared<comm::Call>(
        prepare(all_, me_, call_, ticket, persistent_id, tree_tag, type_tag, prepared_),
        "preparing: " + text_);
    comm::Engine::instance().add(preparation_);
}

void Persistent::require_fitting(const Array& array) const {
    const std::string verb = call_.sending ? "send" : "receive";
    const Fault fault = fault_of(*me_, array, !call_.sending);
    if (fault) fault.raise();
    if (!(array.layout() == call_.layout))
        throw LayoutError("a persistent " + verb + " of arrays with layout " + call_.layout.text() +
                          " cannot be started with one of layout " + array.layout().text() +
                          "; start it with an array of its layout");
    if (prepared_->dtype && !(array.dtype() == *prepared_->dtype))
        throw MismatchError("a persistent " + verb + " of " + prepared_->dtype->name +
                            " cannot be started with an array of " + array.dtype().name +
                            "; start it with an array of its type");
}

void Persistent::start(const Array* array) {
    if (freed_) throw Error("start: this persistent request was freed; make a new one");
    if (active_ || (!awaited_ && !error_))
        throw Error("start: this persistent request is under way (" + text_ +
                    "); wait for it before it is started again");
    if (error_) std::rethrow_exception(error_);
    if (array == nullptr && !call_.array)
        throw Error(
            "start: this persistent request was made from a layout, so each start must "
            "name an array");
    const Array& bound = array != nullptr ? *array : *call_.array;
    if (array != nullptr) require_fitting(bound);
    auto& it = *prepared_;
    if (bound.strides() != it.view.strides) {
        // Plan and channels do not depend on the array's strides; the copies do.
        it.view = transfer::local_view_of(bound);
        restrided_ = it.runner != nullptr;
    }
    if (!it.dtype) it.dtype = bound.dtype();
    data_ = bound.data();
    keep_ = bound.keep();
    active_ = started_ = true;
    launched_ = awaited_ = false;
    if (preparation_->ended()) static_cast<void>(poll());
    if (active_) comm::Engine::instance().add(shared_from_this());
    listed_ = active_;
}

void Persistent::end() {
    active_ = false;
    prepared_->watch.end();
    keep_.reset();
    if (!listed_) return;
    listed_ = false;
    comm::Engine::instance().remove(*this);
}

void Persistent::launch() {
    auto& runner = *prepared_->runner;
    if (restrided_) runner.rebind(work_for(*prepared_, call_.sending));
    restrided_ = false;
    launched_ = true;
    if (trace::enabled()) prepared_->watch.begin(track_of(*all_, call_, ""));
    runner.start(call_.sending ? data_ : nullptr, call_.sending ? nullptr : data_);
}

bool Persistent::poll() {
    if (error_) std::rethrow_exception(error_);
    if (!active_) return true;
    try {
        comm::require_not_ended();
        if (!launched_) {
            if (!preparation_->poll()) return false;
            launch();
        }
        if (!prepared_->runner->poll()) return false;
    } catch (...) {
        error_ = std::current_exception();
        // Release the runner in this turn: later ones may wait for memory that it holds.
        prepared_->runner.reset();
        end();
        throw;
    }
    end();
    if (!*found_) {
        const int source = call_.sending ? me_->task : call_.other;
        const Layout& layout = call_.sending ? call_.layout : *prepared_->source;
        *found_ = Status{source, all_->names[static_cast<std::size_t>(source)], call_.tag, layout,
                         *prepared_->dtype};
    }
    return true;
}

void Persistent::require_started() const {
    if (freed_) throw Error("this persistent request was freed; make a new one");
    if (!started_) throw Error("this persistent request was never started; start it first");
}

void Persistent::free() {
    if (freed_) throw Error("free: this persistent request was freed before");
    if (active_ || (!awaited_ && !error_))
        throw Error("free: this persistent request is under way (" + text_ +
                    "); wait for it first");
    freed_ = true;
    call_.array.reset();
    // The preparation holds the runner while it goes on.
    if (preparation_->ended()) prepared_->runner.reset();
}

}  // namespace hocket::task
