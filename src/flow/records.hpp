// SPDX-License-Identifier: BSD-3-Clause
// Records of regions: for each region that unfinished steps access, its last users. Each pair of
// regions is compared once, when the later one is first named. After that an access of a step costs
// one look-up, and one visit to each conflicting region.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "flow/step.hpp"
#include "hocket/region.hpp"

namespace hocket::flow {

/// A region and its last users. Steps of one group do not wait for each other: they all read, all
/// commute (one at a time), or all reduce with one reduction. A step that writes is a group by
/// itself.
class Record {
  public:
    explicit Record(Region of, std::size_t its_hash) : region(std::move(of)), hash(its_hash) {}

    Region region;
    std::size_t hash;
    Record* next_of_hash = nullptr;
    std::vector<Record*> conflicts;  // regions that share a byte with this one
    Access::Kind kind = Access::Kind::write, kind_before = Access::Kind::write;
    std::string reduction;           // the reduction of the group
    std::vector<Ref> group, before;  // the last group of users, and the one before it

    // While steps run:
    bool taken = false;          // by a step that commutes; guarded by the flow
    std::vector<Step*> refused;  // steps that found it taken; guarded by the flow
    std::mutex combining;        // held to combine the buffers of a reduction
};

class Records {
  public:
    /// `forgets`: drops ended steps from long lists of readers.
    explicit Records(bool forgets) : forgets_(forgets) {}
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    /// Adds a step's access to a region. Calls `wait_for(ref)` for each step that it has to wait
    /// for, possibly repeatedly; its result says whether that step is unfinished.
    template <class WaitFor>
    Record& use(Step& step, const Access& access, WaitFor&& wait_for);
    /// Calls `visit(kind, refs)` for the last groups of users of all conflicting regions.
    template <class Visit>
    void users_of(const Region& region, Visit&& visit) const;

    /// Drops the steps and regions for which `matters` returns false.
    template <class Matters>
    void sweep(Matters&& matters);
    std::size_t size() const { return all_.size(); }

  private:
    Record& find_or_make(const Region& region);
    /// Appends the records that conflict with the region.
    void collect(const Region& region, std::vector<Record*>& out) const;
    void forget(std::size_t index);
    void rehash();

    template <class WaitFor>
    static void each(std::vector<Ref>& refs, WaitFor&& wait_for) {
        std::size_t kept = 0;
        for (const Ref ref : refs)
            if (wait_for(ref)) refs[kept++] = ref;
        refs.resize(kept);
    }

    const bool forgets_;
    std::vector<std::unique_ptr<Record>> all_;
    std::vector<Record*> buckets_;  // a power of two, by hash
    // By the power of two that bounds the region's range, then by its first address.
    std::array<std::multimap<std::uintptr_t, Record*>, 65> by_place_;
};

template <class WaitFor>
Record& Records::use(Step& step, const Access& access, WaitFor&& wait_for) {
    using Kind = Access::Kind;
    Record& record = find_or_make(access.region);
    const Kind kind = access.kind == Kind::update ? Kind::write : access.kind;
    const bool joins = kind == record.kind && kind != Kind::write &&
                       (kind != Kind::reduce || record.reduction == access.reduction->name);
    if (!joins) {
        std::swap(record.before, record.group);
        record.group.clear();
        record.kind_before = std::exchange(record.kind, kind);
        if (kind == Kind::reduce) record.reduction = access.reduction->name;
    }
    each(record.before, wait_for);
    for (Record* other : record.conflicts) {
        const bool both_read = kind == Kind::read && other->kind == Kind::read;
        each(both_read ? other->before : other->group, wait_for);
    }
    // Otherwise the list of readers of a constant region would grow for ever.
    if (forgets_ && record.group.size() >= 64 &&
        (record.group.size() & (record.group.size() - 1)) == 0)
        each(record.group, [](const Ref& ref) {
            return ref.step->generation == ref.generation &&
                   (!ref.step->ended() || ref.step->failed);
        });
    record.group.push_back({&step, step.generation});
    return record;
}

template <class Visit>
void Records::users_of(const Region& region, Visit&& visit) const {
    std::vector<Record*> found;
    collect(region, found);
    for (const Record* record : found) {
        visit(record->kind, record->group);
        visit(record->kind_before, record->before);
    }
}

template <class Matters>
void Records::sweep(Matters&& matters) {
    for (std::size_t i = all_.size(); i-- > 0;) {
        each(all_[i]->group, matters);
        each(all_[i]->before, matters);
        if (all_[i]->group.empty() && all_[i]->before.empty()) forget(i);
    }
}

}  // namespace hocket::flow
