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

void copy_local(const Array& from, const Array& to) {
    kernel::Copy(from.local_shape(), from.dtype().size, from.strides(), to.strides())
        .run(from.data(), to.data());
}

// All tasks agree on the call. `number`: of the call.
comm::Protocol<> carry_out(const Member& me, const Collective& call,
                           const std::vector<Contribution>& brought, std::int64_t number,
                           transfer::Stopwatch& watch) {
    std::optional<Array> sum, next;
    Executors under_way;  // ends before the arrays that it uses
    // Starts to copy an array of task `from` to task `to`, or to another layout within one task, if
    // this process takes part.
    const auto start = [&](int from, int to, const ArrayDescriptor& source,
                           const ArrayDescriptor& destination, const std::optional<Array>& sent,
                           const std::optional<Array>& received) {
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
        const auto ranks = [&](int task) { return me.all->ranks[static_cast<std::size_t>(task)]; };
        const int tag = me.tags.data_of_all(number);
        const std::int64_t numbers = number_bytes(source.dtype, source.itemsize);
        transport::Route route{
            me.all->link.get(), ranks(from), ranks(to), tag, number, 0, tag, tag, numbers};
        under_way.push_back(std::make_unique<transfer::Executor>(work, std::move(route), watch));
        under_way.back()->start(out == nullptr ? nullptr : out->data(),
                                in == nullptr ? nullptr : in->data());
    };
    When done([&] {
        std::erase_if(under_way, [](const auto& each) { return each->poll(); });
        return under_way.empty();
    });
    const auto given = [&](int task) -> const ArrayDescriptor& {
        return brought[static_cast<std::size_t>(task)].descriptors.at(0);
    };
    const auto results = [&](int task) -> const std::vector<ArrayDescriptor>& {
        return brought[static_cast<std::size_t>(task)].results;
    };
    const int tasks = static_cast<int>(brought.size()), root = call.root;
    // All tasks' transfers are under way at once, because they involve different processes.
    if (call.kind == Kind::bcast) {
        for (int task = 0; task < tasks; ++task)
            if (task != root) start(root, task, given(root), given(task), call.array, call.array);
        co_return co_await until(done);
    }
    if (call.kind == Kind::gather) {
        for (int task = 0; task < tasks; ++task) {
            const auto t = static_cast<std::size_t>(task);
            std::optional<Array> result;
            if (me.task == root) result = call.results[t];
            start(task, root, given(task), results(root)[t], call.array, result);
        }
        co_return co_await until(done);
    }
    // Combines arrays task by task in their order, so that every element is combined once, in this
    // order: the result has the same bits everywhere. The first task sends it to all others.
    const int combining = call.kind == Kind::reduce ? root : 0;
    const ArrayDescriptor& to = results(combining).at(0);
    const DType dtype = call.array->dtype();
    if (me.task == combining) {
        sum = Array::empty(to.value(), dtype, me.comm);
        next = Array::empty(to.value(), dtype, me.comm);
    }
    for (int task = 0; task < tasks; ++task) {
        start(task, combining, given(task), to, call.array, task == 0 ? sum : next);
        co_await until(done);
        if (!sum || task == 0) continue;
        std::int64_t count = 1;
        for (const std::int64_t extent : sum->local_shape()) count *= extent;
        kernel::combine_of(call.op, dtype.name)(sum->data(), next->data(), count);
    }
    next.reset();
    if (call.kind == Kind::reduce) {
        if (sum) copy_local(*sum, call.results.at(0));
        co_return;
    }
    for (int task = 0; task < tasks; ++task)
        start(combining, task, to, results(task).at(0), sum, call.results.at(0));
    co_await until(done);
}

comm::Protocol<> collective(All all, Me me, Collective call, int tree_tag, std::int64_t number) {
    transfer::Stopwatch watch(all->profile, {});
    const std::vector<Contribution> brought =
        co_await gather_contributions(all, me, call, tree_tag, me->tags.meeting_of_all(number));
    watch.lap(&Profile::descriptor);
    if (call.kind != Kind::barrier) co_await carry_out(*me, call, brought, number, watch);
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
