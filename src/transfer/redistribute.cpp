// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <numeric>

#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/binding.hpp"
#include "hocket/transfer.hpp"
#include "layout/form.hpp"
#include "transfer/check.hpp"
#include "transfer/convert.hpp"
#include "transfer/executor.hpp"
#include "transfer/strategy_choice.hpp"
#include "transport/buffers.hpp"

namespace hocket {
namespace {

using transfer::LocalView;

// One side of the call on this process.
struct CallSide {
    Layout layout;
    LocalView view;
    void* data = nullptr;
    std::vector<int> map;  // process of the layout -> rank
    std::shared_ptr<const void> keep;
};

std::vector<int> first_ranks(std::int64_t size) {
    std::vector<int> map(static_cast<std::size_t>(size));
    std::iota(map.begin(), map.end(), 0);
    return map;
}

CallSide side_of(const Array& array) {
    return {array.layout(), transfer::local_view_of(array), array.data(),
            first_ranks(array.layout().size()), array.keep()};
}

// The whole of an array like `array`, on rank `root` alone. After an error the call has a fault,
// and the side serves no transfer. `written`: the call writes into the whole.
std::shared_ptr<CallSide> whole_side(comm::Fault& fault, const Array& array, const void* data,
                                     int root, const Shape& strides,
                                     std::shared_ptr<const void> keep, bool written) {
    if (root < 0 || root >= array.comm().size()) {
        fault = transfer::no_such_root(root, array.comm().size());
        root = 0;
    }
    const Shape& shape = array.layout().shape();
    std::string stars = "(";
    for (std::size_t d = 0; d < shape.size(); ++d) stars += d == 0 ? "*" : ", *";
    CallSide side{Layout(shape, stars + ")"), {}, const_cast<void*>(data), {root}, std::move(keep)};
    side.view.process = array.comm().rank() == root ? 0 : -1;
    if (!fault) {
        try {
            const Shape dense = dense_strides(shape, array.dtype().size);
            side.view.strides = strides.empty() ? dense : strides;
            side.view.dense = side.view.strides == dense;
            if (side.view.process == 0)
                fault = transfer::fault_of_whole(data, strides, array, written);
        } catch (const std::exception&) {
            fault = comm::Fault::current();
        }
    }
    return std::make_shared<CallSide>(std::move(side));
}

// overlap[destination process] = the source process on the same rank.
std::vector<std::int64_t> overlap_of(const CallSide& source, const CallSide& destination,
                                     int ranks) {
    std::vector<std::int64_t> source_on(static_cast<std::size_t>(ranks), -1);
    for (std::size_t s = 0; s < source.map.size(); ++s)
        source_on[static_cast<std::size_t>(source.map[s])] = static_cast<std::int64_t>(s);
    std::vector<std::int64_t> overlap;
    for (const int rank : destination.map)
        overlap.push_back(source_on[static_cast<std::size_t>(rank)]);
    return overlap;
}

// `published`: the signature of the call, as in "gather(float64 …)".
trace::Track track_of(const comm::CallSignature& published, const CallSide* source,
                      std::int64_t itemsize) {
    if (!trace::enabled() || published.fault) return {};
    trace::Arguments details;
    details.add("call", published.text);
    details.add("bytes", transfer::local_bytes(source->layout, source->view, itemsize));
    return {published.text.substr(0, published.text.find('(')), details};
}

comm::Protocol<> move(Comm on, int tag, std::int64_t number, comm::CallSignature mine,
                      std::shared_ptr<CallSide> source, std::shared_ptr<CallSide> destination,
                      plan::Options options, std::shared_ptr<Profile> profile,
                      std::int64_t max_buffer,
                      std::shared_ptr<const transfer::Conversion> conversion) {
    transfer::Stopwatch watch(std::move(profile), track_of(mine, source.get(), options.itemsize));
    co_await on.state().open();
    comm::Link& link = on.state().link();
    transport::Route route;
    if (!mine.fault) route = {&link, source->map, destination->map, tag, number, max_buffer};
    options.strategy = co_await transfer::agree_on_strategy(
        link, tag, std::move(mine), source ? &source->layout : nullptr,
        destination ? &destination->layout : nullptr, options, route);
    watch.lap(&Profile::descriptor);
    const auto work = transfer::cached_schedule(source->layout, destination->layout, options,
                                                source->view, destination->view);
    watch.lap(&Profile::schedule);
    co_await transfer::run(work, source->data, destination->data, std::move(route), watch);
    // Here, not in the caller's wait: after its deadline the operation goes on.
    if (conversion) conversion->finish();
}

// Every process calls this, even with wrong arguments, so that all get the error.
std::shared_ptr<Operation> begin(const Comm& on, const std::string& name, comm::CallSignature mine,
                                 std::shared_ptr<CallSide> source,
                                 std::shared_ptr<CallSide> destination, std::int64_t itemsize,
                                 const RedistributeOptions& options,
                                 std::shared_ptr<const transfer::Conversion> conversion = {}) {
    const comm::EngineLock engine_lock;
    plan::Options plan_options;
    plan_options.itemsize = itemsize;
    // One tag, as for every collective call: a process that refuses the call (below) cannot know
    // the others' call. Texts and data between two processes stay in order.
    const int tag = on.state().next_tag();
    std::int64_t max_buffer = 0;
    if (!mine.fault) {
        try {
            max_buffer = options.max_buffer.value_or(transport::default_buffers());
            plan_options = transfer::checked_options(source->layout, destination->layout,
                                                     overlap_of(*source, *destination, on.size()),
                                                     itemsize, options);
        } catch (const std::exception&) {
            mine.fault = comm::Fault::current();
        }
    }
    auto operation = std::make_shared<comm::Call>(
        move(on, tag, on.state().tags_issued(), std::move(mine), std::move(source),
             std::move(destination), std::move(plan_options), options.profile, max_buffer,
             std::move(conversion)),
        name);
    comm::Engine::instance().add(operation);
    return operation;
}

void call(const Comm& on, const std::string& name, comm::CallSignature mine,
          std::shared_ptr<CallSide> source, std::shared_ptr<CallSide> destination,
          std::int64_t itemsize, const RedistributeOptions& options) {
    wait(*begin(on, name, std::move(mine), std::move(source), std::move(destination), itemsize,
                options),
         options.deadline);
}

}  // namespace

Profile& Profile::operator+=(const Profile& other) {
    inquiry += other.inquiry;
    call += other.call;
    descriptor += other.descriptor;
    schedule += other.schedule;
    pack += other.pack;
    move += other.move;
    return *this;
}

std::shared_ptr<Operation> iredistribute(const Array& source, const Array& destination,
                                         const RedistributeOptions& options) {
    const bool converts = transfer::converts(source, destination, options);
    comm::CallSignature mine;
    mine.text = "redistribute(" + source.dtype().name + " " +
                layout::label(source.layout().form()) + " to " + destination.dtype().name + " " +
                layout::label(destination.layout().form()) + transfer::spelled(options) + ")";
    if (!(source.comm() == destination.comm()))
        mine.fault = {"MismatchError",
                      "source and destination of redistribute are on different communicators; make "
                      "both arrays on the same one"};
    else if (!(source.dtype() == destination.dtype()) && !converts)
        mine.fault = {"MismatchError", "cannot redistribute " + source.dtype().name + " into " +
                                           destination.dtype().name +
                                           "; make both arrays of one type, or of numbers that "
                                           "the option convert converts"};
    else
        mine.fault = transfer::fault_between(source, destination);
    std::shared_ptr<const transfer::Conversion> conversion;
    if (converts && !mine.fault) {
        try {
            conversion = std::make_shared<transfer::Conversion>(source, destination);
        } catch (const std::exception&) {  // there is no memory
            mine.fault = comm::Fault::current();
        }
    }
    const Array& from = conversion ? conversion->sent() : source;
    const Array& to = conversion ? conversion->received() : destination;
    return begin(source.comm(), mine.text, mine, std::make_shared<CallSide>(side_of(from)),
                 std::make_shared<CallSide>(side_of(to)), from.dtype().size, options,
                 std::move(conversion));
}

void redistribute(const Array& source, const Array& destination,
                  const RedistributeOptions& options) {
    wait(*iredistribute(source, destination, options), options.deadline);
}

void Binding::refuse(const Comm& comm, const std::string& kind, const std::string& message,
                     Deadline deadline) {
    RedistributeOptions options;
    options.deadline = deadline;
    comm::CallSignature mine;
    mine.fault = {kind, message.empty() ? "no reason was given" : message};
    call(comm, "a call that was refused", mine, nullptr, nullptr, 1, options);
}

namespace {

comm::Protocol<> send_from_root(Comm on, comm::CallSignature mine, int tag,
                                std::shared_ptr<std::string> text) {
    co_await on.state().open();
    *text = co_await comm::agree(comm::Group::whole(on.state().link()), tag, std::move(mine));
}

}  // namespace

std::string tell(const Comm& comm, const std::string& text, int root, Deadline deadline) {
    comm::CallSignature mine;
    mine.text = "tell(root=" + std::to_string(root) + "), as scatter does first";
    if (comm.rank() == root) mine.payload = text;
    if (root < 0 || root >= comm.size()) mine.fault = transfer::no_such_root(root, comm.size());
    auto observed = std::make_shared<std::string>();
    std::shared_ptr<comm::Call> operation;
    {
        const comm::EngineLock engine_lock;
        operation = std::make_shared<comm::Call>(
            send_from_root(comm, mine, comm.state().next_tag(), observed), mine.text);
        comm::Engine::instance().add(operation);
    }
    wait(*operation, deadline);
    return *observed;
}

void scatter(const void* whole, const Array& destination, int root,
             const RedistributeOptions& options, std::shared_ptr<const void> keep) {
    comm::CallSignature mine;
    mine.text = "scatter(" + destination.dtype().name + " to " +
                layout::label(destination.layout().form()) + ", root=" + std::to_string(root) + ")";
    mine.fault = transfer::fault_in_writing(destination);
    auto from = whole_side(mine.fault, destination, whole, root, options.whole_strides,
                           std::move(keep), false);
    call(destination.comm(), mine.text, mine, std::move(from),
         std::make_shared<CallSide>(side_of(destination)), destination.dtype().size, options);
}

void gather(const Array& source, void* whole, int root, const RedistributeOptions& options,
            std::shared_ptr<const void> keep) {
    comm::CallSignature mine;
    mine.text = "gather(" + source.dtype().name + " from " + layout::label(source.layout().form()) +
                ", root=" + std::to_string(root) + ")";
    auto to =
        whole_side(mine.fault, source, whole, root, options.whole_strides, std::move(keep), true);
    call(source.comm(), mine.text, mine, std::make_shared<CallSide>(side_of(source)), std::move(to),
         source.dtype().size, options);
}

}  // namespace hocket
