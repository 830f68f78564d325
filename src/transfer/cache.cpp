// SPDX-License-Identifier: BSD-3-Clause
// Plans and parts made lately, found again by value.
#include <list>
#include <mutex>

#include "base/environment.hpp"
#include "hocket/transfer.hpp"
#include "transfer/work.hpp"

namespace hocket {
namespace transfer {
namespace {

// Works that are kept; HOCKET_PLAN_CACHE says another number, 0 keeps none.
std::size_t keep_at_most() {
    static const auto kept =
        environment::number("HOCKET_PLAN_CACHE", 0, 1 << 20, "how many plans are kept")
            .value_or(64);
    return static_cast<std::size_t>(kept);
}

struct Key {
    Layout source_layout, destination_layout;
    plan::Options options;
    Place source, destination;

    std::size_t hash() const {
        std::size_t value = source_layout.hash() * 31 + destination_layout.hash();
        const auto mix = [&](std::int64_t number) {
            value = value * 1099511628211u + static_cast<std::size_t>(number);
        };
        mix(options.itemsize);
        for (const auto axis : options.axes) mix(axis);
        mix(source.process);
        mix(destination.process);
        for (const auto stride : source.strides) mix(stride);
        for (const auto stride : destination.strides) mix(stride);
        return value;
    }
    friend bool operator==(const Key& a, const Key& b) {
        return a.source.process == b.source.process &&
               a.destination.process == b.destination.process &&
               a.source.strides == b.source.strides &&
               a.destination.strides == b.destination.strides &&
               a.options.itemsize == b.options.itemsize && a.options.axes == b.options.axes &&
               a.options.strategy == b.options.strategy && a.options.overlap == b.options.overlap &&
               a.source_layout == b.source_layout && a.destination_layout == b.destination_layout;
    }
};

struct Entry {
    std::size_t hash;
    Key key;
    std::shared_ptr<const Work> work;
};

class Cache {
  public:
    std::shared_ptr<const Work> find_or_make(Key key) {
        const std::size_t hash = key.hash();
        {
            const std::lock_guard lock(mutex_);
            for (auto it = entries_.begin(); it != entries_.end(); ++it) {
                if (it->hash != hash || !(it->key == key)) continue;
                entries_.splice(entries_.begin(), entries_, it);  // the latest used comes first
                ++counts_.found;
                return it->work;
            }
        }
        const Plan plan(key.source_layout, key.destination_layout, key.options);
        auto made = std::make_shared<const Work>(plan, key.source, key.destination);
        const std::lock_guard lock(mutex_);
        ++counts_.made;
        entries_.push_front({hash, std::move(key), made});
        if (entries_.size() > keep_at_most()) entries_.pop_back();
        return made;
    }
    PlanCacheCounts counts() {
        const std::lock_guard lock(mutex_);
        counts_.kept = static_cast<std::int64_t>(entries_.size());
        return counts_;
    }

  private:
    std::mutex mutex_;
    std::list<Entry> entries_;
    PlanCacheCounts counts_{};
};

Cache& cache() {
    static Cache* const made = new Cache;
    return *made;
}

}  // namespace

std::shared_ptr<const Work> cached_work(const Layout& source_layout,
                                        const Layout& destination_layout,
                                        const plan::Options& options, const Place& source,
                                        const Place& destination) {
    return cache().find_or_make({source_layout, destination_layout, options, source, destination});
}

}  // namespace transfer

PlanCacheCounts plan_cache_counts() {
    return transfer::cache().counts();
}

}  // namespace hocket
