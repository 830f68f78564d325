// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/transfer_state.hpp"

#include <numeric>
#include <utility>

#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "layout/form.hpp"
#include "transfer/check.hpp"
#include "transfer/strategy_choice.hpp"
#include "transport/buffers.hpp"

namespace hocket {
namespace {

// Both layouts use the first ranks, so a process of both has the same number in either.
std::vector<std::int64_t> same_numbers(const Layout& source, const Layout& destination) {
    std::vector<std::int64_t> overlap;
    for (std::int64_t r = 0; r < destination.size(); ++r)
        overlap.push_back(r < source.size() ? r : -1);
    return overlap;
}

std::vector<int> ranks_of(const Layout& layout) {
    std::vector<int> ranks(static_cast<std::size_t>(layout.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

transfer::LocalView dense_view(const Layout& layout, const Comm& comm, std::int64_t itemsize) {
    transfer::LocalView view;
    view.process = comm.rank() < layout.size() ? comm.rank() : -1;
    view.strides =
        dense_strides(layout.local_shape(std::max<std::int64_t>(view.process, 0)), itemsize);
    view.dense = true;
    return view;
}

comm::Fault other_array(const char* which, const std::string& what, const std::string& has,
                        const std::string& wanted) {
    return {"MismatchError", std::string("the ") + which + " array of this start has " + what +
                                 " " + has + ", but the transfer was made for " + wanted +
                                 "; start it with an array that fits, or make another transfer"};
}

}  // namespace

Transfer::State::State(const Layout& source, const Layout& destination,
                       const std::optional<DType>& dtype, const Comm& comm,
                       const RedistributeOptions& options)
    : source_(source),
      destination_(destination),
      dtype_(dtype),
      comm_(comm),
      options_(options),
      watch_(options.profile) {
    text_ = "transfer(" + (dtype ? dtype->name + " " : "") + layout::label(source.form()) + " to " +
            layout::label(destination.form()) + transfer::spelled(options) + ")";
}

void Transfer::State::check() {
    for (const Layout* layout : {&source_, &destination_})
        if (layout->size() > comm_.size())
            throw LayoutError(
                "the layout " + layout::label(layout->form()) + " needs " +
                std::to_string(layout->size()) + " processes, but the communicator has " +
                std::to_string(comm_.size()) + "; start more processes, or give the layout fewer");
    plan_ = transfer::checked_options(source_, destination_, same_numbers(source_, destination_),
                                      dtype_ ? dtype_->size : 1, options_);
}

comm::Protocol<> Transfer::State::make(int tag, comm::CallSignature mine) {
    const auto self = shared_from_this();  // the waiting call may give up
    co_await comm_.state().open();
    // One process chooses the tags, because another may have refused to make a transfer before.
    if (comm_.rank() == 0) mine.payload = std::to_string(comm_.state().next_lasting_tags());
    const std::string tags =
        co_await comm::agree(comm::Group::whole(comm_.state().link()), tag, std::move(mine));
    comm::Link* const link = co_await comm_.state().lasting_link();
    route_ = {link,
              ranks_of(source_),
              ranks_of(destination_),
              std::stoi(tags),
              0,
              options_.max_buffer.value_or(transport::default_buffers())};
    if (dtype_) {
        comm::CallSignature same;
        co_await prepare(std::move(same), dtype_);
    }
}

comm::Protocol<> Transfer::State::prepare(comm::CallSignature mine, std::optional<DType> dtype) {
    agreed_ = false;
    plan::Options options = plan_;
    if (dtype) options.itemsize = dtype->size;
    options.strategy =
        co_await transfer::agree_on_strategy(*route_.link, route_.refusal_tag(), std::move(mine),
                                             &source_, &destination_, options, route_);
    agreed_ = true;
    plan_ = std::move(options);
    dtype_ = std::move(dtype);
    watch_.restart();
    from_ = dense_view(source_, comm_, dtype_->size);
    to_ = dense_view(destination_, comm_, dtype_->size);
    auto runner = std::make_unique<transfer::Executor>(work(), route_, watch_);
    watch_.lap(&Profile::schedule);
    co_await runner->connect();
    runner_ = std::move(runner);
}

std::shared_ptr<const transfer::Schedule> Transfer::State::work() const {
    return transfer::cached_schedule(source_, destination_, plan_, from_, to_);
}

trace::Track Transfer::State::track() const {
    if (!trace::enabled()) return {};
    trace::Arguments details;
    details.add("call", text_);
    details.add("bytes", transfer::local_bytes(source_, from_, dtype_->size));
    return {"transfer", details};
}

comm::Fault Transfer::State::fault_of(const Array& source, const Array& destination) const {
    for (const auto& [array, layout, which] :
         {std::tuple(&source, &source_, "source"),
          std::tuple(&destination, &destination_, "destination")}) {
        if (!(array->comm() == comm_))
            return other_array(which, "another communicator",
                               "of " + std::to_string(array->comm().size()) + " processes",
                               "one of " + std::to_string(comm_.size()));
        if (!(array->layout() == *layout))
            return other_array(which, "the layout", layout::label(array->layout().form()),
                               layout::label(layout->form()));
        if (dtype_ && !(array->dtype() == *dtype_))
            return other_array(which, "the type", array->dtype().name, dtype_->name);
    }
    if (!(source.dtype() == destination.dtype()))
        return {"MismatchError", "cannot transfer " + source.dtype().name + " into " +
                                     destination.dtype().name + "; give arrays of one type"};
    return transfer::fault_between(source, destination);
}

void Transfer::State::require_startable() const {
    if (freed_) throw Error("start: " + text_ + " was freed; make a new one");
    if (error_) std::rethrow_exception(error_);
    if (!awaited_ || (!starts_.empty() && !starts_.back().fault))
        throw Error("start: " + text_ + " is under way; wait for it before it is started again");
}

void Transfer::State::start(const Array& source, const Array& destination) {
    take_dropped();
    require_startable();
    if (const comm::Fault fault = fault_of(source, destination)) {
        refuse(fault);
        fault.raise();
    }
    RequestedStart start;
    start.source = source.data();
    start.destination = destination.data();
    start.keep_source = source.keep();
    start.keep_destination = destination.keep();
    if (!dtype_) start.dtype = source.dtype();
    // Refused starts have no arrays, so the runner still has those of the last arrays.
    if (!dtype_ || source.strides() != from_.strides || destination.strides() != to_.strides)
        start.views =
            std::pair(transfer::local_view_of(source), transfer::local_view_of(destination));
    started_ = true;
    awaited_ = false;
    push(std::move(start));
}

void Transfer::State::refuse(const comm::Fault& fault) {
    take_dropped();
    require_startable();
    RequestedStart start;
    start.fault = fault;
    started_ = false;
    push(std::move(start));
}

void Transfer::State::drop(const comm::Fault& fault) {
    {
        const std::lock_guard lock(dropping_);
        dropped_.push_back(fault);
        any_dropped_ = true;
    }
    comm::Engine::instance().post(shared_from_this());
}

// In their order: before the starts that follow the dropped ones.
void Transfer::State::take_dropped() {
    if (!any_dropped_) return;
    const std::lock_guard lock(dropping_);
    any_dropped_ = false;
    for (comm::Fault& fault : dropped_) {
        if (freed_) break;
        starts_.emplace_back().fault = std::move(fault);
        started_ = false;
    }
    dropped_.clear();
}

void Transfer::State::push(RequestedStart start) {
    outcome_ = {};
    starts_.push_back(std::move(start));
    const auto list = [this] {
        if (starts_.empty() || listed_) return;
        comm::Engine::instance().add(shared_from_this());
        listed_ = true;
    };
    try {
        static_cast<void>(poll());
    } catch (const Error&) {
        list();  // the wait, or the refused start, raises it
        return;
    }
    list();
}

bool Transfer::State::poll() {
    if (error_) std::rethrow_exception(error_);
    try {
        comm::require_not_ended();
        take_dropped();
        while (!starts_.empty() && advance()) {
        }
    } catch (...) {
        error_ = std::current_exception();
        // Release it in this turn: later ones may wait for memory that it holds.
        settling_.reset();
        runner_.reset();
        starts_.clear();
    }
    if (!starts_.empty()) return false;
    if (listed_) {
        listed_ = false;
        comm::Engine::instance().remove(*this);
    }
    if (error_) std::rethrow_exception(error_);
    if (freed_) runner_.reset();
    if (outcome_) outcome_.raise();
    return true;
}

// True when the first start has ended.
bool Transfer::State::advance() {
    RequestedStart& start = starts_.front();
    if (!running_) {
        if (!runner_ && !settle(start)) return false;
        if (!runner_) return true;  // a process has refused
        launch(start);
    }
    if (!runner_->poll()) return false;
    running_ = false;
    watch_.end();
    if (!start.fault && runner_->refused()) outcome_ = *runner_->refused();
    pop();
    return true;
}

void Transfer::State::pop() {
    starts_.erase(starts_.begin());
}

// Agrees on the type, by the first start that no process refuses. True once all have agreed; then
// there is a runner, or the start has ended.
bool Transfer::State::settle(RequestedStart& start) {
    if (!settling_) {
        comm::CallSignature mine;
        mine.fault = start.fault;
        if (start.dtype) mine.text = "start(" + start.dtype->name + ") of " + text_;
        settling_.emplace(prepare(std::move(mine), start.dtype));
    }
    try {
        if (!settling_->poll()) return false;
        settling_->take();
    } catch (const Error&) {
        if (agreed_) throw;
        if (!start.fault) outcome_ = comm::Fault::current();
        pop();
    }
    settling_.reset();
    return true;
}

void Transfer::State::launch(RequestedStart& start) {
    if (start.views) {
        std::tie(from_, to_) = std::move(*start.views);
        runner_->rebind(work());
    }
    running_ = true;
    if (trace::enabled()) watch_.begin(track());
    if (!start.fault) return runner_->start(start.source, start.destination);
    runner_->refuse({start.fault.kind, "process " + std::to_string(comm_.rank()) + " of " +
                                           std::to_string(comm_.size()) + " could not start " +
                                           text_ + ": " + start.fault.message});
}

void Transfer::State::require_started() const {
    if (freed_) throw Error(text_ + " was freed; make a new one");
    if (error_) std::rethrow_exception(error_);
    if (!started_)
        throw Error(text_ + " is not started on this process; start it with two arrays first");
}

bool Transfer::State::is_refusing() const {
    const comm::EngineLock engine_lock;
    return !starts_.empty() && starts_.back().fault;
}

void Transfer::State::free() {
    if (freed_) throw Error("free: " + text_ + " was freed before");
    if (!starts_.empty() && !starts_.back().fault)
        throw Error("free: " + text_ + " is under way; wait for it first");
    freed_ = true;
    if (starts_.empty()) runner_.reset();
}

}  // namespace hocket
