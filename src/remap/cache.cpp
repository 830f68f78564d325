// SPDX-License-Identifier: BSD-3-Clause
// The cache of plans of recent remaps.
#include <functional>
#include <string>

#include "base/pack.hpp"
#include "layout/form.hpp"
#include "remap/remap_plan.hpp"
#include "transfer/lru_cache.hpp"

namespace hocket::remap {
namespace {

transfer::LruCache<RemapPlan>& remap_plans() {
    static auto* const kept = new transfer::LruCache<RemapPlan>(true);
    return *kept;
}

}  // namespace

std::shared_ptr<const RemapPlan> cached_remap(const Layout& layout,
                                              std::span<const std::int64_t> axes,
                                              std::int64_t process, std::int64_t itemsize,
                                              int threads, const std::string& methods) {
    // By the layout's text, not its value: equal layouts may have different arrangements, and a
    // remap keeps the text.
    Packer key;
    key.text(layout::label(layout.form())).text(methods);
    key.number(process).number(itemsize).number(threads);
    for (const std::int64_t axis : axes) key.number(axis);
    return remap_plans().find_or_make(key.take(), [&](const std::string&) {
        return plan_remap(layout, axes, process, itemsize, threads, methods);
    });
}

}  // namespace hocket::remap
