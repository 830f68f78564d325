// SPDX-License-Identifier: BSD-3-Clause
#include "layout/common_runs.hpp"

namespace hocket::layout {

bool use_congruences(const IndexSet& a, const IndexSet& b, std::int64_t end) {
    if (!a.repeats() || !b.repeats()) return false;
    return max_common_runs(a, b) < std::min(a.runs_within(0, end), b.runs_within(0, end)) / 2;
}

void add_common_runs(const IndexSet& source, const IndexSet& destination,
                     std::vector<Family>& out) {
    const std::int64_t extent = source.extent();
    for_common_runs(
        source, destination, [&](std::int64_t first, std::int64_t length, base::wide period) {
            // The number of its repetitions wholly within the extent, and the rest of one more.
            const base::wide room = static_cast<base::wide>(extent) - first;
            const auto times = static_cast<std::int64_t>((room - length) / period + 1);
            const bool any = room >= length;
            const auto emit = [&](std::int64_t from, std::int64_t run) -> Family& {
                out.push_back({from,
                               source.count_below(from),
                               destination.count_below(from),
                               {{run, 1, 1, 1}}});
                return out.back();
            };
            if (any) {
                Family& family = emit(first, length);
                if (times > 1) {
                    const auto step = static_cast<std::int64_t>(period);
                    family.repeats.insert(
                        family.repeats.begin(),
                        {times, step, step / source.period() * source.per_period(),
                         step / destination.period() * destination.per_period()});
                }
            }
            const base::wide next = first + (any ? times * period : base::wide{0});
            if (next < extent)
                emit(static_cast<std::int64_t>(next),
                     static_cast<std::int64_t>(std::min<base::wide>(length, extent - next)));
            return true;
        });
}

std::int64_t count_common_runs(const IndexSet& a, const IndexSet& b) {
    base::wide count = 0;
    for_common_runs(a, b, [&](std::int64_t first, std::int64_t length, base::wide period) {
        const base::wide room = static_cast<base::wide>(a.extent()) - first;
        const base::wide begun = (room - 1) / period + 1;
        count += (begun - 1) * length + std::min<base::wide>(length, room - (begun - 1) * period);
        return true;
    });
    return static_cast<std::int64_t>(count);
}

bool any_common_run(const IndexSet& a, const IndexSet& b) {
    bool found = false;
    for_common_runs(a, b, [&](std::int64_t, std::int64_t, base::wide) {
        found = true;
        return false;
    });
    return found;
}

}  // namespace hocket::layout
