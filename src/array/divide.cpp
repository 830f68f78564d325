// SPDX-License-Identifier: BSD-3-Clause
#include "array/divide.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "array/local.hpp"
#include "hocket/binding.hpp"

namespace hocket::array {
namespace {

// The most keys of one cut in a round, and of all cuts if these are fewer.
constexpr std::int64_t most_of_a_cut = 128, most_keys = 2048;

// A number in (0, 1) that these determine, for samples (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014).
double fraction(std::uint64_t round, std::uint64_t rank, std::uint64_t key) {
    std::uint64_t bits = 0;
    for (const std::uint64_t each : {round, rank, key}) {
        bits += each + 0x9e3779b97f4a7c15;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
        bits ^= bits >> 31;
    }
    return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

// Rows before a key, or so many of them as it divides.
struct Rows {
    std::int64_t own, all;
};

// Invariant: one key has `low` rows of each process before it, or with its equals, and one key has
// `high`, because all processes take both from the same key. So of two keys, the one with more rows
// of all processes has no fewer of any process.
struct Cut {
    std::int64_t wanted;
    Rows low, high;
    std::int64_t equals = 0;  // a closed cut's own rows behind low that equal its key

    bool is_open() const { return low.all < high.all; }
    // The keys by which a round narrows it: few if few rows are left.
    std::int64_t keys(std::int64_t most) const {
        const std::int64_t rows = high.all - low.all;
        return rows < most / 4 ? 4 * rows : most;
    }
    // Closes it at a bound that has the wanted number of rows.
    void settle() {
        if (low.all == wanted)
            high = low;
        else if (high.all == wanted)
            low = high;
    }
};

// A key's places.
struct Key {
    Rows before, with_equals;
};

// Narrows a cut by keys in order.
void narrow(Cut& cut, std::span<const Key> keys) {
    const auto reaching = std::partition_point(
        keys.begin(), keys.end(), [&](const Key& key) { return key.with_equals.all < cut.wanted; });
    const auto beyond = std::partition_point(
        keys.begin(), keys.end(), [&](const Key& key) { return key.before.all <= cut.wanted; });
    if (reaching < beyond) {  // the cut is before, among or behind this key's equals
        const Key& key = beyond[-1];
        cut.low = cut.high = key.before;
        cut.equals = key.with_equals.own - key.before.own;
        return;
    }
    if (reaching != keys.begin() && reaching[-1].with_equals.all > cut.low.all)
        cut.low = reaching[-1].with_equals;
    if (beyond != keys.end() && beyond->before.all < cut.high.all) cut.high = beyond->before;
    cut.settle();
}

template <class T>
T* numbers_in(std::string& row) {
    return reinterpret_cast<T*>(row.data());
}
template <class T>
const T* numbers_in(const std::string& row) {
    return reinterpret_cast<const T*>(row.data());
}

// Keys of rows between the bounds of the open cuts. Each process offers one for each key that is
// asked for, at about the same place among its own rows, and chance decides for one of them, by
// the numbers of rows (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
std::vector<std::byte> sampled(const Comm& comm, const SortedRows& rows, std::int64_t own_rows,
                               std::span<const Cut> cuts, std::uint64_t round, Deadline deadline) {
    const std::int64_t open = std::ranges::count_if(cuts, &Cut::is_open);
    const std::int64_t most = std::clamp<std::int64_t>(most_keys / open, 1, most_of_a_cut);
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    std::vector<std::int64_t> offered;
    std::vector<double> turns;  // the lowest of all processes wins
    for (const Cut& cut : cuts) {
        if (!cut.is_open()) continue;
        const auto left = static_cast<double>(cut.high.own - cut.low.own);
        const std::int64_t count = cut.keys(most);
        for (std::int64_t k = 0; k < count; ++k) {
            const std::uint64_t number = turns.size();
            const double at = (static_cast<double>(k) + fraction(round, rank, 2 * number)) /
                              static_cast<double>(count);
            const std::int64_t row = cut.low.own + static_cast<std::int64_t>(at * left);
            turns.push_back(left > 0 ? -std::log(fraction(round, rank, 2 * number + 1)) / left
                                     : std::numeric_limits<double>::infinity());
            // Without a row there, any one, which does not win.
            offered.push_back(std::min(row, left > 0 ? cut.high.own - 1 : own_rows - 1));
        }
    }
    const std::size_t count = turns.size(), bytes = static_cast<std::size_t>(rows.bytes);
    const std::size_t head = count * sizeof turns[0];
    std::vector<std::byte> keys(count * bytes);
    if (own_rows > 0) rows.pick(offered, keys.data());
    std::string mine(reinterpret_cast<const char*>(turns.data()), head);
    mine.append(reinterpret_cast<const char*>(keys.data()), keys.size());
    const std::string found = merged(
        comm, "keys of a sort", std::move(mine),
        [=](std::string& row, const std::string& other) {
            for (std::size_t k = 0; k < count; ++k) {
                if (numbers_in<double>(other)[k] >= numbers_in<double>(row)[k]) continue;
                numbers_in<double>(row)[k] = numbers_in<double>(other)[k];
                row.replace(head + k * bytes, bytes, other, head + k * bytes, bytes);
            }
        },
        deadline);
    std::memcpy(keys.data(), found.data() + head, keys.size());
    return keys;
}

// The places of these keys, in order.
std::vector<Key> placed(const Comm& comm, const SortedRows& rows,
                        const std::vector<std::byte>& keys, Deadline deadline) {
    const std::size_t count = keys.size() / static_cast<std::size_t>(rows.bytes);
    std::vector<std::int64_t> own(2 * count);
    rows.place(keys.data(), std::span(own).first(count), std::span(own).last(count));
    const std::string sums = merged(
        comm, "places of a sort",
        {reinterpret_cast<const char*>(own.data()), own.size() * sizeof own[0]},
        [=](std::string& row, const std::string& other) {
            for (std::size_t k = 0; k < 2 * count; ++k)
                numbers_in<std::int64_t>(row)[k] += numbers_in<std::int64_t>(other)[k];
        },
        deadline);
    const auto* const all = numbers_in<std::int64_t>(sums);
    std::vector<Key> found(count);
    for (std::size_t k = 0; k < count; ++k)
        found[k] = {{own[k], all[k]}, {own[count + k], all[count + k]}};
    std::ranges::sort(found, [](const Key& a, const Key& b) {
        return std::pair(a.before.all, a.with_equals.all) <
               std::pair(b.before.all, b.with_equals.all);
    });
    return found;
}

}  // namespace

std::vector<std::int64_t> divide(const Comm& comm, const SortedRows& rows,
                                 std::span<const std::int64_t> counts,
                                 std::span<const std::int64_t> wanted, bool together,
                                 Deadline deadline) {
    const std::size_t size = counts.size();
    const Rows everything{counts[static_cast<std::size_t>(comm.rank())],
                          std::accumulate(counts.begin(), counts.end(), std::int64_t{0})};
    std::vector<Cut> cuts;
    for (const std::int64_t each : wanted) {
        cuts.push_back({each, {0, 0}, everything});
        cuts.back().settle();
    }
    // Every round narrows every open cut, as one of its keys is of a row between the cut's bounds.
    for (std::uint64_t round = 0; std::ranges::any_of(cuts, &Cut::is_open); ++round) {
        const auto keys = sampled(comm, rows, everything.own, cuts, round, deadline);
        const auto in_order = placed(comm, rows, keys, deadline);
        for (Cut& cut : cuts)
            if (cut.is_open()) narrow(cut, in_order);
    }
    std::vector<std::int64_t> mine;
    for (const Cut& cut : cuts) mine.insert(mine.end(), {cut.low.own, cut.equals});
    const auto gathered = allgather(
        comm, mine.data(), static_cast<std::int64_t>(mine.size() * sizeof mine[0]), deadline);
    const auto* const places = reinterpret_cast<const std::int64_t*>(gathered.data());
    std::vector<std::int64_t> found(size * cuts.size());
    for (std::size_t c = 0; c < cuts.size(); ++c) {
        std::int64_t of_equals = together ? 0 : cuts[c].wanted - cuts[c].low.all;
        for (std::size_t at = c; at < found.size(); at += cuts.size()) {
            const std::int64_t taken = std::min(of_equals, places[2 * at + 1]);
            found[at] = places[2 * at] + taken;
            of_equals -= taken;
        }
    }
    return found;
}

}  // namespace hocket::array

std::vector<std::int64_t> hocket::Binding::divide(
    const Comm& comm, std::int64_t bytes,
    const std::function<void(std::span<const std::int64_t>, std::byte*)>& pick,
    const std::function<void(const std::byte*, std::span<std::int64_t>, std::span<std::int64_t>)>&
        place,
    std::span<const std::int64_t> counts, std::span<const std::int64_t> wanted, bool together) {
    return array::divide(comm, {bytes, pick, place}, counts, wanted, together, Deadline::in({}));
}
