// SPDX-License-Identifier: BSD-3-Clause
// A cache by value that drops the least recently used entries.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "hocket/layout.hpp"
#include "hocket/transfer.hpp"

namespace hocket::transfer {

/// The capacity: HOCKET_PLAN_CACHE, or the default; 0 keeps nothing.
std::size_t plans_kept();

/// The layout of these bytes: processes exchange the same few short layouts again and again.
/// @throws LayoutError as layout::form_of.
Layout layout_of(std::string_view bytes);

/// Adds these counts to plan_cache_counts().
void count_plans(std::function<PlanCacheCounts()> counts);

/// The keys are texts. Any thread may call it.
template <class Value>
class LruCache {
  public:
    LruCache() = default;
    /// A cache that counts as plans lives until the program ends.
    explicit LruCache(bool counted_as_plans) {
        if (counted_as_plans) count_plans([this] { return counts(); });
    }
    /// Calls `make(key)` for a missing entry. `Key`: std::string, or std::string_view.
    template <class Key, class Make>
    std::shared_ptr<const Value> find_or_make(Key key, const Make& make) {
        {
            const std::lock_guard lock(mutex_);
            for (auto it = entries_.begin(); it != entries_.end(); ++it) {
                if (it->first != key) continue;
                entries_.splice(entries_.begin(), entries_, it);  // the latest used comes first
                ++counts_.found;
                return it->second;
            }
        }
        auto made = std::make_shared<const Value>(make(key));
        const std::lock_guard lock(mutex_);
        ++counts_.made;
        entries_.emplace_front(std::move(key), made);
        if (entries_.size() > plans_kept()) entries_.pop_back();
        return made;
    }
    PlanCacheCounts counts() {
        const std::lock_guard lock(mutex_);
        counts_.kept = static_cast<std::int64_t>(entries_.size());
        return counts_;
    }

  private:
    std::mutex mutex_;
    std::list<std::pair<std::string, std::shared_ptr<const Value>>> entries_;
    PlanCacheCounts counts_{};
};

}  // namespace hocket::transfer
