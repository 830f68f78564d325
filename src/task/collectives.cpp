// SPDX-License-Identifier: BSD-3-Clause
#include "task/collectives.hpp"

#include <algorithm>

#include "comm/engine.hpp"
#include "hocket/memory.hpp"
#include "kernel/combine.hpp"
#include "task/byte_order.hpp"
#include "task/collective_agreement.hpp"
#include "transfer/check.hpp"
#include "transfer/executor.hpp"

namespace hocket::task {
namespace {

using Kind = Collective::Kind;
using comm::until;
using comm::When;

using Executors = std::vector<std::unique_ptr<transfer::Executor>>;

// Common data of all transfers of one call.
struct CollectiveTransfers {
    const Tasks::State& all;
    const Member& me;
    int tag;
    std::int64_t number;  // of the call
    transfer::Stopwatch& watch;

    // Starts to copy an array of task `from` to task `to`, or to another layout within one task, if
    // this process takes part.
    void start(Executors& under_way, int from, int to, const ArrayDescriptor& source,
               const ArrayDescriptor& destination, const std::optional<Array>& sent,
               const std::optional<Array>& received) const {
        if (me.task != from && me.task != to) return;
        plan::Options options;
        options.itemsize = source.itemsize;
        if (from == to)
            for (std::int64_t r = 0; r < destination.value().size(); ++r)
                options.overlap.push_back(r < source.value().size() ? r : -1);
        const Array* const out = me.task == from && sent ? &*sent : nullptr;
        const Array* const in = me.task == to && received ? &*received : nullptr;
        const auto view = [](const Array* array) {
            return array == nullptr ? transfer::LocalView() : transfer::local_view_of(*array);
        };
        const auto work = transfer::cached_schedule(source.value(), destination.value(), options,
                                                    view(out), view(in));
        watch.lap(&Profile::schedule);
        const auto ranks = [&](int task) { return all.ranks[static_cast<std::size_t>(task)]; };
        transport::Route route{all.link.get(),
                               ranks(from),
                               ranks(to),
                               tag,
                               number,
                               0,
                               tag,
                               tag,
                               number_bytes(source.dtype, source.itemsize)};
        under_way.push_back(std::make_unique<transfer::Executor>(work, std::move(route), watch));
        under_way.back()->start(out == nullptr ? nullptr : out->data(),
                                in == nullptr ? nullptr : in->data());
    }
};

comm::Protocol<> finish_all(Executors under_way) {
    When done([&] {
        std::erase_if(under_way, [](const auto& each) { return each->poll(); });
        return under_way.empty();
    });
    co_await until(done);
}

// Combines arrays task by task in their order, so that every element is combined once, in this
// order: the result has the same bits everywhere. Returns the result on the root, in the result's
// layout.
comm::Protocol<std::optional<Array>> combine_arrays(CollectiveTransfers moving,
                                                    const Collective& call,
                                                    std::vector<Contribution> brought, int root) {
    const ArrayDescriptor& to = brought[static_cast<std::size_t>(root)].results.at(0);
    const DType dtype = call.array->dtype();
    std::optional<Array> sum, next;
    if (moving.me.task == root) {
        sum = Array::empty(to.value(), dtype, moving.me.comm);
        next = Array::empty(to.value(), dtype, moving.me.comm);
    }
    for (int task = 0; task < static_cast<int>(brought.size()); ++task) {
        const auto& from = brought[static_cast<std::size_t>(task)].descriptors.at(0);
        Executors one;
        moving.start(one, task, root, from, to, call.array, task == 0 ? sum : next);
        co_await finish_all(std::move(one));
        if (!sum || task == 0) continue;
        std::int64_t count = 1;
        for (const std::int64_t extent : sum->local_shape()) count *= extent;
        kernel::combine_of(call.op, dtype.name)(sum->data(), next->data(), count);
    }
    co_return sum;
}

void copy_local(const Array& from, const Array& to) {
    kernel::Copy(from.local_shape(), from.dtype().size, from.strides(), to.strides())
        .run(from.data(), to.data());
}

// Copies the array of one task to all, or (`gathered`) those of all tasks to one.
comm::Protocol<> move_all(CollectiveTransfers moving, std::vector<ArrayDescriptor> sources,
                          std::vector<ArrayDescriptor> destinations, int root, bool gathered,
                          std::optional<Array> sent, std::vector<std::optional<Array>> received) {
    Executors under_way;  // all at once, because they involve different tasks
    for (int task = 0; task < static_cast<int>(moving.all.names.size()); ++task) {
        const auto t = static_cast<std::size_t>(task);
        const ArrayDescriptor &from = sources[gathered ? t : 0], &to = destinations[t];
        if (!to.layout) continue;
        const bool has_result = moving.me.task == (gathered ? root : task);
        moving.start(under_way, gathered ? task : root, gathered ? root : task, from, to, sent,
                     has_result ? received[gathered ? t : 0] : std::nullopt);
    }
    co_await finish_all(std::move(under_way));
}

comm::Protocol<> carry_out(CollectiveTransfers moving, const Collective& call,
                           std::vector<Contribution> brought) {
    std::vector<ArrayDescriptor> descriptors, results;
    for (const Contribution& each : brought) {
        descriptors.push_back(each.descriptors.at(0));
        results.push_back(each.results.empty() ? ArrayDescriptor() : each.results[0]);
    }
    const auto root = static_cast<std::size_t>(call.root);
    std::vector<std::optional<Array>> received{call.array};
    if (call.kind == Kind::bcast) {
        std::vector<ArrayDescriptor> source{descriptors[root]};
        descriptors[root].layout.reset();  // the root already has it
        co_await move_all(moving, std::move(source), std::move(descriptors), call.root, false,
                          call.array, std::move(received));
    } else if (call.kind == Kind::gather) {
        received.assign(call.results.begin(), call.results.end());
        std::vector<ArrayDescriptor> destinations = brought[root].results;
        co_await move_all(moving, std::move(descriptors), std::move(destinations), call.root, true,
                          call.array, std::move(received));
    } else if (call.kind == Kind::reduce) {
        const std::optional<Array> sum =
            co_await combine_arrays(moving, call, std::move(brought), call.root);
        if (sum) copy_local(*sum, call.results.at(0));
    } else {
        std::optional<Array> sum = co_await combine_arrays(moving, call, std::move(brought), 0);
        received.assign(1, call.results.at(0));
        std::vector<ArrayDescriptor> source{results[0]};
        co_await move_all(moving, std::move(source), std::move(results), 0, false, std::move(sum),
                          std::move(received));
    }
}

comm::Protocol<> collective(All all, Me me, Collective call, int tree_tag, std::int64_t number) {
    transfer::Stopwatch watch(all->profile, {});
    std::vector<Contribution> brought =
        co_await gather_contributions(all, me, call, tree_tag, me->tags.meeting_of_all(number));
    watch.lap(&Profile::descriptor);
    if (call.kind == Kind::barrier) co_return;
    const CollectiveTransfers moving{*all, *me, me->tags.data_of_all(number), number, watch};
    co_await carry_out(moving, call, std::move(brought));
}

}  // namespace

comm::Fault fault_of(const Member& me, const Collective& call) {
    if (call.kind == Kind::barrier) return {};
    const bool writes = call.kind == Kind::bcast && me.task != call.root;
    if (comm::Fault fault = fault_of(me, *call.array, writes)) return fault;
    const bool reduces = call.kind == Kind::reduce || call.kind == Kind::allreduce;
    try {
        if (reduces) static_cast<void>(kernel::combine_of(call.op, call.array->dtype().name));
    } catch (const Error&) {
        return comm::Fault::current();
    }
    const bool gives_results =
        call.kind == Kind::allreduce || (call.kind != Kind::bcast && me.task == call.root);
    if (!gives_results) return {};
    if (reduces && call.results.size() != 1)
        return {"Error", "there is no array for the result; give one of the same shape and dtype"};
    if (const auto pair = transfer::sharing_memory(call.results))
        return {"Error", "numbers " + std::to_string(pair->first) + " and " +
                             std::to_string(pair->second) +
                             " of the arrays to gather into share memory; give each its own"};
    for (const Array& result : call.results) {
        if (comm::Fault fault = fault_of(me, result, true)) return fault;
        if (!reduces) continue;
        const Array& array = *call.array;
        if (!(result.dtype() == array.dtype()) || result.layout().shape() != array.layout().shape())
            return {"MismatchError", "the result of reducing " +
                                         array_text(array.dtype().name, array.layout().shape()) +
                                         " cannot go to " +
                                         array_text(result.dtype().name, result.layout().shape()) +
                                         "; give an array of the same shape and dtype"};
    }
    return {};
}

std::shared_ptr<Pending> start_collective(All all, Me me, Collective call) {
    std::string text =
        "task '" + me->name() + "' in " + (call.fault ? "a collective call" : text_of(*all, call));
    const int tree_tag = me->tags.tree(me->task, me->calls++);
    const std::int64_t number = all->collectives++;
    const auto given_up = call.given_up = std::make_shared<bool>(false);
    auto operation = std::make_shared<comm::Call>(
        collective(all, me, std::move(call), tree_tag, number), std::move(text));
    comm::Engine::instance().add(operation);
    auto pending = std::make_shared<Pending>(Pending{std::move(me), nullptr, std::move(operation)});
    pending->given_up = given_up;
    return pending;
}

}  // namespace hocket::task
