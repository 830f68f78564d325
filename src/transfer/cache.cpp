// SPDX-License-Identifier: BSD-3-Clause
// The cache of plans of recent transfers.
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/pack.hpp"
#include "hocket/transfer.hpp"
#include "layout/binary.hpp"
#include "transfer/lru_cache.hpp"
#include "transfer/schedule.hpp"

namespace hocket {
namespace transfer {
namespace {

LruCache<Schedule>& schedules() {
    static auto* const kept = new LruCache<Schedule>(true);
    return *kept;
}

std::mutex& caches_mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
}

std::vector<std::function<PlanCacheCounts()>>& caches() {
    static auto* const all = new std::vector<std::function<PlanCacheCounts()>>;
    return *all;
}

}  // namespace

void count_plans(std::function<PlanCacheCounts()> counts) {
    const std::lock_guard lock(caches_mutex());
    caches().push_back(std::move(counts));
}

namespace {
const environment::ValidatedSetting checked_cache([] { static_cast<void>(plans_kept()); });
}

std::size_t plans_kept() {
    static const auto kept =
        environment::number("HOCKET_PLAN_CACHE", 0, 1 << 20, "how many plans are kept")
            .value_or(64);
    return static_cast<std::size_t>(kept);
}

Layout layout_of(std::string_view bytes) {
    static auto* const kept = new LruCache<Layout>;
    return *kept->find_or_make(bytes, [](std::string_view key) {
        return Layout(std::make_shared<const layout::Form>(layout::form_of(key)));
    });
}

std::shared_ptr<const Schedule> cached_schedule(const Layout& source_layout,
                                                const Layout& destination_layout,
                                                const plan::Options& options,
                                                const LocalView& source,
                                                const LocalView& destination) {
    // By the definitions of the layouts, not their values: processes share copies out in the order
    // of the definition, and one process may have met an equal layout that its peers have not.
    Packer key(512);
    key.text(layout::key_of(source_layout.form())).text(layout::key_of(destination_layout.form()));
    key.text(options.strategy).number(options.itemsize).number(options.stages);
    key.number(options.same_ranks).number(options.partial);
    key.number(source.process).number(destination.process);
    for (const auto* numbers :
         {&options.axes, &options.overlap, &source.strides, &destination.strides}) {
        key.number(static_cast<std::int64_t>(numbers->size()));
        for (const std::int64_t number : *numbers) key.number(number);
    }
    return schedules().find_or_make(key.take(), [&](const std::string&) {
        const Plan plan(source_layout, destination_layout, options);
        return plan_schedule(plan, source, destination);
    });
}

}  // namespace transfer

PlanCacheCounts plan_cache_counts() {
    PlanCacheCounts all{};
    const std::lock_guard lock(transfer::caches_mutex());
    for (const auto& cache : transfer::caches()) {
        const PlanCacheCounts counts = cache();
        all.found += counts.found;
        all.made += counts.made;
        all.kept += counts.kept;
    }
    return all;
}

}  // namespace hocket
