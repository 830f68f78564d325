// SPDX-License-Identifier: BSD-3-Clause
#include "task/persistent.hpp"

#include "base/pack.hpp"
#include "comm/engine.hpp"
#include "task/byte_order.hpp"
#include "task/exchange.hpp"
#include "transfer/check.hpp"

namespace hocket::task {

struct Persistent::Prepared {
    std::optional<DType> dtype;
    transfer::LocalView view;  // of the array for which the runner was made
    std::optional<Layout> source, destination;
    RequestedOptions negotiated;
    transfer::Stopwatch watch{nullptr};
    std::unique_ptr<transfer::Executor> runner;
};

namespace {

// On the lowest process: what the other task's says.
Protocol<Envelope> exchange_types(All all, Me me, const MessageCall& call, const DType& mine,
                                  std::int64_t send, Fault fault) {
    Envelope own = refusal(std::move(fault));
    own.descriptors.push_back({std::nullopt, mine.name, mine.size});
    const int source = call.sends ? me->task : call.other;
    // One message each way: the sender uses the data's tag, the receiver the reply's.
    const int data = me->tags.data(source, send), reply = me->tags.reply(source, send);
    const int there = me->lowest_of(call.other);
    // A task may communicate with itself, and a message to the same process may not complete before
    // it is received.
    const std::string text_out = packed_reply(own);
    comm::Requests requests;
    all->link->send_text(requests, text_out, there, call.sends ? data : reply);
    comm::TextMessage message =
        co_await comm::receive_text(*all->link, there, call.sends ? reply : data);
    co_await comm::until(requests);
    Envelope theirs = unpacked_reply(message.text);
    const ArrayDescriptor& form = theirs.descriptors.at(0);
    if (own.fault) {
        theirs.fault = own.fault;
    } else if (!theirs.fault && (form.dtype != mine.name || form.itemsize != mine.size)) {
        theirs.fault.kind = "MismatchError";
        theirs.fault.message = task_text(*all, source) + " starts a persistent send of " +
                               (call.sends ? mine.name : form.dtype) + " to " +
                               task_text(*all, call.sends ? call.other : me->task) +
                               ", which receives " + (call.sends ? form.dtype : mine.name) +
                               "; make the receiving array match";
    }
    co_return theirs;
}

// Agrees on the type of the first start between the two tasks, because one of them did not set it
// with the request. Raises on every process of both for a mismatch on any process.
Protocol<> settle_type(All all, Me me, MessageCall call, DType mine, int tree_tag,
                       std::int64_t send) {
    comm::CallSignature signature;
    signature.text = "start(" + mine.name + ")";
    comm::CallSignature negotiate =
        co_await comm::collect(me->group, tree_tag, std::move(signature));
    Envelope settled;
    if (me->group.lowest()) {
        try {
            Envelope both = co_await exchange_types(all, me, call, mine, send, negotiate.fault);
            settled = std::move(both);
        } catch (const std::exception&) {  // only this process of its task has noticed
            settled.fault = Fault::current();
        }
    }
    const std::string outcome =
        co_await comm::broadcast(me->group, tree_tag, packed_reply(settled));
    const Envelope answer = unpacked_reply(outcome);
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

// Of the preparation and of each start.
trace::Track track_of(const Tasks::State& all, const MessageCall& call,
                      const std::optional<Array>& array, const char* stage) {
    if (!trace::enabled()) return {};
    const std::string verb = std::string(call.sends ? "send" : "recv") + stage;
    const std::span<const Array> arrays{array ? &*array : nullptr, array ? 1u : 0u};
    return task::track_of(verb, all, call, arrays);
}

Protocol<> prepare(All all, Me me, MessageCall call, std::int64_t ticket, int tree_tag,
                   int type_tag, std::shared_ptr<Persistent::Prepared> it) {
    const Envelope other = co_await rendezvous(all, me, call, tree_tag, ticket, it->watch);
    it->negotiated = other.requested;
    const std::int64_t send = call.sends ? ticket : other.send;
    const std::int64_t id = call.sends ? call.persistent_id : other.persistent_id;
    comm::When typed([&] { return it->dtype.has_value(); });
    co_await comm::until(typed);
    const ArrayDescriptor& own = call.descriptors[0];
    if (own.dtype.empty() || other.descriptors.at(0).dtype.empty())
        co_await settle_type(all, me, call, *it->dtype, type_tag, send);

    it->watch.restart();
    const Layout there = other.descriptors.at(0).value();
    it->source = call.sends ? own.value() : there;
    it->destination = call.sends ? there : own.value();
    const int source = call.sends ? me->task : call.other;
    const int destination = call.sends ? call.other : me->task;
    transport::Route route{all->link.get(),
                           all->ranks[static_cast<std::size_t>(source)],
                           all->ranks[static_cast<std::size_t>(destination)],
                           me->tags.persistent_id(source, id),
                           id,
                           0,
                           me->tags.persistent_among(Side::source, source, id),
                           me->tags.persistent_among(Side::destination, source, id),
                           number_bytes(it->dtype->name, it->dtype->size),
                           true};
    it->runner = std::make_unique<transfer::Executor>(work_for(*it, call.sends), std::move(route),
                                                      it->watch);
    it->watch.lap(&Profile::schedule);
    // For a single start, as either side announces it, permanent channels do not pay.
    if (!call.once && !other.once) co_await it->runner->connect();
    it->watch.end();
}

}  // namespace

Persistent::Persistent(All all, Me me, MessageCall call, std::optional<Array> array)
    : all_(std::move(all)),
      me_(std::move(me)),
      call_(std::move(call)),
      array_(std::move(array)),
      prepared_(std::make_shared<Prepared>()),
      found_(std::make_shared<std::optional<Status>>()) {
    text_ = "task '" + me_->name() + "' " + (call_.sends ? "sends " : "receives ") +
            array_text(call_.descriptors[0].dtype, layout().shape()) +
            (call_.sends ? " to " : " from ") + task_text(*all_, call_.other) + " with " +
            tag_text(call_.tag) + ", persistently";
    if (array_) prepared_->dtype = array_->dtype();
    if (array_) prepared_->view = transfer::local_view_of(*array_);
    call_.stream = "persistent requests";
    // The other task has prepared its side, too, so it gets the error, if this side names it.
    call_.abandoned = call_.fault && call_.other >= 0 && call_.tag >= 0;
    const int tree_tag = me_->tags.tree(me_->task, me_->calls++);
    const int type_tag = me_->tags.tree(me_->task, me_->calls++);
    const std::int64_t ticket = (call_.sends ? me_->sends : me_->receives)++;
    if (call_.sends) call_.persistent_id = me_->persistent_id++;
    prepared_->watch = transfer::Stopwatch(all_->profile, track_of(*all_, call_, array_, "_init"));
    preparation_ = std::make_shared<comm::Call>(
        prepare(all_, me_, call_, ticket, tree_tag, type_tag, prepared_), "preparing: " + text_);
    comm::Engine::instance().add(preparation_);
}

void Persistent::require_fitting(const Array& array) const {
    const std::string verb = call_.sends ? "send" : "receive";
    const Fault fault = fault_of(*me_, array, !call_.sends);
    if (fault) fault.raise();
    if (!(array.layout() == layout()))
        throw LayoutError("a persistent " + verb + " of arrays with layout " + layout().text() +
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
    if (array == nullptr && !array_)
        throw Error(
            "start: this persistent request was made from a layout, so each start must "
            "name an array");
    const Array& bound = array != nullptr ? *array : *array_;
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
    if (restrided_) runner.rebind(work_for(*prepared_, call_.sends));
    restrided_ = false;
    launched_ = true;
    if (trace::enabled()) prepared_->watch.begin(track_of(*all_, call_, array_, ""));
    runner.start(call_.sends ? data_ : nullptr, call_.sends ? nullptr : data_);
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
        const int source = call_.sends ? me_->task : call_.other;
        *found_ = Status{source, all_->names[static_cast<std::size_t>(source)], call_.tag,
                         *prepared_->source, *prepared_->dtype};
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
    array_.reset();
    // The preparation holds the runner while it goes on.
    if (preparation_->ended()) prepared_->runner.reset();
}

}  // namespace hocket::task
