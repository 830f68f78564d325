// SPDX-License-Identifier: BSD-3-Clause
// The cache of plans of recent transfers.
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "hocket/transfer.hpp"
#include "layout/binary.hpp"
#include "transfer/lru_cache.hpp"
#include "transfer/schedule.hpp"

namespace hocket {
namespace transfer {
namespace {

struct ScheduleKey {
    Layout source_layout, destination_layout;
    plan::Options options;
    LocalView source, destination;

    std::size_t hash() const {
        std::size_t hash = source_layout.hash();
        const auto add = [&](std::size_t number) { hash = hash * 1099511628211U + number; };
        add(destination_layout.hash());
        for (const auto number : {options.itemsize, source.process, destination.process})
            add(static_cast<std::size_t>(number));
        for (const auto* numbers : {&options.axes, &source.strides, &destination.strides})
            for (const auto number : *numbers) add(static_cast<std::size_t>(number));
        return hash;
    }
    friend bool operator==(const ScheduleKey& a, const ScheduleKey& b) {
        return a.source.process == b.source.process &&
               a.destination.process == b.destination.process &&
               a.source.strides == b.source.strides &&
               a.destination.strides == b.destination.strides &&
               a.options.itemsize == b.options.itemsize && a.options.axes == b.options.axes &&
               a.options.strategy == b.options.strategy && a.options.stages == b.options.stages &&
               a.options.overlap == b.options.overlap && a.options.partial == b.options.partial &&
               a.options.same_ranks == b.options.same_ranks &&
               same_definition(a.source_layout, b.source_layout) &&
               same_definition(a.destination_layout, b.destination_layout);
    }
    // Not ==: processes share copies out in the order of the definition, and one process may have
    // met an equal layout that its peers have not.
    static bool same_definition(const Layout& a, const Layout& b) {
        return layout::key_of(a.form()) == layout::key_of(b.form());
    }
};

LruCache<ScheduleKey, Schedule>& schedules() {
    static auto* const kept = new LruCache<ScheduleKey, Schedule>(true);
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
    static auto* const kept = new LruCache<std::string, Layout>;
    return *kept->find_or_make(bytes, [](std::string_view key) {
        return Layout(std::make_shared<const layout::Form>(layout::form_of(key)));
    });
}

std::shared_ptr<const Schedule> cached_schedule(const Layout& source_layout,
                                                const Layout& destination_layout,
                                                const plan::Options& options,
                                                const LocalView& source,
                                                const LocalView& destination) {
    return schedules().find_or_make(
        {source_layout, destination_layout, options, source, destination},
        [](const ScheduleKey& key) {
            const Plan plan(key.source_layout, key.destination_layout, key.options);
            return plan_schedule(plan, key.source, key.destination);
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
