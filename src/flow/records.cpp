// SPDX-License-Identifier: BSD-3-Clause
#include "flow/records.hpp"

#include <algorithm>
#include <bit>

namespace hocket::flow {
namespace {

std::size_t class_of(const Region& region) {
    return static_cast<std::size_t>(std::bit_width(region.end() - region.begin()));
}

}  // namespace

Record& Records::find_or_make(const Region& region) {
    const std::size_t hash = region.hash();
    if (buckets_.empty()) buckets_.resize(64, nullptr);
    Record*& bucket = buckets_[hash & (buckets_.size() - 1)];
    for (Record* record = bucket; record != nullptr; record = record->next_of_hash)
        if (record->hash == hash && record->region == region) return *record;
    auto made = std::make_unique<Record>(region, hash);
    collect(region, made->conflicts);
    for (Record* other : made->conflicts) other->conflicts.push_back(made.get());
    made->next_of_hash = bucket;
    bucket = made.get();
    if (!region.is_key() && !region.empty())
        by_place_[class_of(region)].emplace(region.begin(), made.get());
    all_.push_back(std::move(made));
    Record& result = *all_.back();
    if (all_.size() > 2 * buckets_.size()) rehash();
    return result;
}

void Records::collect(const Region& region, std::vector<Record*>& out) const {
    if (region.is_key() && !buckets_.empty()) {  // keys conflict with equal keys only
        Record* record = buckets_[region.hash() & (buckets_.size() - 1)];
        for (; record != nullptr; record = record->next_of_hash)
            if (record->region == region) out.push_back(record);
    }
    if (region.is_key() || region.empty()) return;
    for (std::size_t power = 1; power < by_place_.size(); ++power) {
        const auto& places = by_place_[power];
        if (places.empty()) continue;
        // Ranges of this class are shorter than 2^power bytes.
        const std::uintptr_t longest =
            power == 64 ? ~std::uintptr_t{0} : (std::uintptr_t{1} << power) - 1;
        const std::uintptr_t from = region.begin() > longest ? region.begin() - longest : 0;
        for (auto it = places.lower_bound(from); it != places.end() && it->first < region.end();
             ++it)
            if (it->second->region.overlaps(region)) out.push_back(it->second);
    }
}

void Records::forget(std::size_t index) {
    Record* const gone = all_[index].get();
    for (Record* other : gone->conflicts) std::erase(other->conflicts, gone);
    Record** place = &buckets_[gone->hash & (buckets_.size() - 1)];
    while (*place != gone) place = &(*place)->next_of_hash;
    *place = gone->next_of_hash;
    if (!gone->region.is_key() && !gone->region.empty()) {
        auto& places = by_place_[class_of(gone->region)];
        const auto [from, to] = places.equal_range(gone->region.begin());
        places.erase(std::find_if(from, to, [&](const auto& at) { return at.second == gone; }));
    }
    std::swap(all_[index], all_.back());
    all_.pop_back();
}

void Records::rehash() {
    buckets_.assign(4 * buckets_.size(), nullptr);
    for (const auto& record : all_) {
        Record*& bucket = buckets_[record->hash & (buckets_.size() - 1)];
        record->next_of_hash = bucket;
        bucket = record.get();
    }
}

}  // namespace hocket::flow
