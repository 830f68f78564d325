// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/remap.hpp"

#include "base/platform.hpp"
#include "base/pool.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "kernel/box.hpp"
#include "layout/arrangement.hpp"
#include "layout/form.hpp"
#include "remap/exchange_inplace.hpp"
#include "remap/remap_plan.hpp"
#include "transfer/schedule.hpp"
#include "transfer/stopwatch.hpp"

namespace hocket {
namespace {

comm::Protocol<> move(Comm on, int tag, std::int64_t number, comm::CallSignature mine,
                      std::shared_ptr<const remap::RemapPlan> plan, Array array, Shape axes,
                      int threads, std::shared_ptr<Profile> profile) {
    trace::Arguments details;
    if (trace::enabled())
        details.add("call", mine.text)
            .add("bytes", transfer::local_bytes(array.layout(), transfer::local_view_of(array),
                                                array.dtype().size));
    transfer::Stopwatch watch(std::move(profile), {"remap_inplace", details});
    co_await on.state().open();
    comm::Link& link = on.state().link();
    const std::string methods =
        co_await comm::agree(comm::Group::whole(link), tag, std::move(mine));
    watch.lap(&Profile::descriptor);
    if (methods != plan->methods && !plan->methods.empty())
        plan = remap::cached_remap(array.layout(), axes, array.process(), array.dtype().size,
                                   threads, methods);
    auto* const data = static_cast<std::byte*>(array.data());
    for (const remap::RemapStage& stage : plan->stages) {
        for (const auto& [offset, work] : stage.permutations) work.run(data + offset);
        watch.lap(&Profile::pack);
        if (!stage.members.empty())
            co_await remap::exchange_inplace(link, tag, number, stage, data, threads);
        watch.lap(&Profile::move);
    }
}

// The error of the memory of this process's part.
comm::Fault fault_in(const Array& array, std::int64_t room) {
    if (!array.writable())
        return {"Error", "cannot remap a read-only array in place; give one that may be written"};
    if (!kernel::is_dense(array.local_shape(), array.dtype().size, array.strides()))
        return {"Error", "cannot remap in place: the local array of shape " +
                             text::tuple(array.local_shape()) + " has strides " +
                             text::tuple(array.strides()) +
                             " bytes, and must be dense and row-major; copy it into one in "
                             "hocket's memory, or use redistribute, which permutes as well"};
    if (array.room() < room)
        return {"Error", "remapping this process's part of " +
                             layout::label(array.layout().form()) + " in place takes " +
                             std::to_string(room) + " bytes of memory, but the array has " +
                             std::to_string(array.room()) + ", " +
                             std::to_string(room - array.room()) +
                             " too few; make the array with more room"};
    return {};
}

}  // namespace

Layout remap_layout(const Layout& layout, std::span<const std::int64_t> axes) {
    return layout::remapped(layout, axes);
}

std::int64_t remap_room(const Layout& layout, std::span<const std::int64_t> axes,
                        std::int64_t rank) {
    layout.form().check_rank(rank);
    static_cast<void>(layout::remapped(layout, axes));  // for its checks
    const auto at = layout.form().place(rank);
    if (!at) return 0;
    layout::Arrangement now(layout);
    std::int64_t most = now.elements(*at);
    for (const layout::Change& change : now.changes_to(axes)) {
        now.apply(change);
        most = std::max(most, now.elements(*at));
    }
    return most;
}

Array remap_inplace(const Array& array, std::span<const std::int64_t> axes,
                    const RemapOptions& options) {
    comm::CallSignature mine;
    mine.text = "remap_inplace(" + array.dtype().name + " " + layout::label(array.layout().form()) +
                " by axes " + text::tuple(axes) + ")";
    std::shared_ptr<const remap::RemapPlan> plan;
    auto profile = options.profile ? options.profile : std::make_shared<Profile>();
    const double start = platform::seconds();
    int threads = 1;
    try {
        if (options.threads < 0)
            throw Error("threads is " + std::to_string(options.threads) +
                        "; give 1 or more, or 0 for what the process may use");
        threads = base::resolve_threads(options.threads);
        plan =
            remap::cached_remap(array.layout(), axes, array.process(), array.dtype().size, threads);
        mine.fault = fault_in(array, plan->room);
        mine.payload = plan->methods;
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    profile->schedule += platform::seconds() - start;
    std::shared_ptr<comm::Call> operation;
    {
        const comm::EngineLock engine_lock;
        const int tag = array.comm().state().next_tag();
        const std::string name = mine.text;
        operation = std::make_shared<comm::Call>(
            move(array.comm(), tag, array.comm().state().tags_issued(), std::move(mine),
                 std::move(plan), array, Shape(axes.begin(), axes.end()), threads, profile),
            name);
        comm::Engine::instance().add(operation);
    }
    wait(*operation, options.deadline);
    return Array::wrap(array.data(), remap_layout(array.layout(), axes), array.dtype(),
                       array.comm(), {}, array.keep(), true, array.room());
}

}  // namespace hocket
