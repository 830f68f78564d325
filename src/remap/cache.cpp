// SPDX-License-Identifier: BSD-3-Clause
// The cache of plans of recent remaps.
#include <functional>
#include <string>

#include "layout/form.hpp"
#include "remap/remap_plan.hpp"
#include "transfer/lru_cache.hpp"

namespace hocket::remap {
namespace {

// By the layout's text, not its value: equal layouts may have different arrangements, and a remap
// keeps the text.
struct RemapKey {
    std::string layout;
    std::vector<std::int64_t> axes;
    std::int64_t process, itemsize;
    int threads;
    std::string methods;

    std::size_t hash() const {
        transfer::Hash hash;
        hash.add(static_cast<std::int64_t>(std::hash<std::string>{}(layout)));
        hash.add(static_cast<std::int64_t>(std::hash<std::string>{}(methods)));
        hash.add(process).add(itemsize).add(threads);
        for (const auto axis : axes) hash.add(axis);
        return hash.value();
    }
    friend bool operator==(const RemapKey&, const RemapKey&) = default;
};

transfer::LruCache<RemapKey, RemapPlan>& remap_plans() {
    static auto* const kept = new transfer::LruCache<RemapKey, RemapPlan>(true);
    return *kept;
}

}  // namespace

std::shared_ptr<const RemapPlan> cached_remap(const Layout& layout,
                                              std::span<const std::int64_t> axes,
                                              std::int64_t process, std::int64_t itemsize,
                                              int threads, const std::string& methods) {
    return remap_plans().find_or_make({layout::label(layout.form()),
                                       {axes.begin(), axes.end()},
                                       process,
                                       itemsize,
                                       threads,
                                       methods},
                                      [&](const RemapKey&) {
                                          return plan_remap(layout, axes, process, itemsize,
                                                            threads, methods);
                                      });
}

}  // namespace hocket::remap
