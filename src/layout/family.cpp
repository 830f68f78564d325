// SPDX-License-Identifier: BSD-3-Clause
// Intersections of index sets, after FALLS (Ramaswamy and Banerjee, "Automatic generation of
// efficient array redistribution routines for distributed memory multicomputers", 1995).
#include "layout/family.hpp"

#include <algorithm>
#include <tuple>

#include "base/checked.hpp"
#include "layout/common_runs.hpp"

namespace hocket::layout {

std::int64_t Family::count() const {
    std::int64_t result = 1;
    for (const Repeat& repeat : repeats) result *= repeat.count;
    return result;
}

namespace {

/// Writes families of source ∩ destination within windows of the dimension.
class Sweep {
  public:
    Sweep(const IndexSet& source, const IndexSet& destination, std::vector<Family>& out)
        : source_(source), destination_(destination), out_(out) {}

    void run(std::int64_t low, std::int64_t high) {
        // Walks over the runs of the set that has fewer; queries the other with each run.
        if (source_.runs_within(low, high) <= destination_.runs_within(low, high))
            for_runs(source_, low, high,
                     [this](std::int64_t a, std::int64_t b) { interval(a, b, destination_); });
        else
            for_runs(destination_, low, high,
                     [this](std::int64_t a, std::int64_t b) { interval(a, b, source_); });
    }

  private:
    void emit(std::int64_t first, std::int64_t length) {
        out_.push_back({first,
                        source_.count_below(first, source_run_),
                        destination_.count_below(first, destination_run_),
                        {{length, 1, 1, 1}}});
    }

    /// [low, high) is in one run of one set; finds the elements of `set`, the other one, in it.
    void interval(std::int64_t low, std::int64_t high, const IndexSet& set) {
        if (!set.repeats() || high - low < set.period()) {
            for_runs(set, low, high, [this](std::int64_t a, std::int64_t b) { emit(a, b - a); });
            return;
        }
        const std::int64_t period = set.period();
        const bool in_source = &set == &source_;
        for (const Run& run : set.runs()) {
            // Repetitions q of this run wholly within the interval, and the partial ones at each
            // end.
            const std::int64_t head = base::ceil_div(low - run.first, period);
            const std::int64_t tail =
                base::floor_div(high - run.length - run.first, period);  // last whole one
            if (head <= tail) {
                const std::int64_t first = run.first + head * period;
                emit(first, run.length);
                if (head < tail) {
                    const std::int64_t local = set.per_period();
                    const Repeat again{tail - head + 1, period, in_source ? local : period,
                                       in_source ? period : local};
                    out_.back().repeats.insert(out_.back().repeats.begin(), again);
                }
            }
            partial(run, head - 1, low, high, period);
            if (tail + 1 != head - 1) partial(run, tail + 1, low, high, period);
        }
    }

    void partial(const Run& run, std::int64_t q, std::int64_t low, std::int64_t high,
                 std::int64_t period) {
        const std::int64_t first = std::max(run.first + q * period, low);
        const std::int64_t last = std::min(run.first + q * period + run.length, high);
        if (first < last) emit(first, last - first);
    }

    const IndexSet& source_;
    const IndexSet& destination_;
    std::vector<Family>& out_;
    std::size_t source_run_ = 0, destination_run_ = 0;  // at the last element
};

std::int64_t span_of(const std::vector<Repeat>& repeats) {
    std::int64_t last = 0;
    for (const Repeat& repeat : repeats) last += (repeat.count - 1) * repeat.global;
    return last + 1;
}

/// Appends the elements of `family` below `end`.
void clip(const Family& family, std::int64_t end, std::size_t level, std::vector<Family>& out) {
    if (family.first >= end) return;
    if (family.first + span_of(family.repeats) <= end) {
        out.push_back(family);
        return;
    }
    const Repeat repeat = family.repeats[level];
    std::vector<Repeat> inner(family.repeats.begin() + static_cast<std::ptrdiff_t>(level) + 1,
                              family.repeats.end());
    const std::int64_t whole_ones = std::max<std::int64_t>(
        0, (end - family.first - span_of(inner) + repeat.global) / repeat.global);
    if (whole_ones > 0) {
        out.push_back(family);
        out.back().repeats[level].count = whole_ones;
    }
    Family rest = family;
    rest.first += whole_ones * repeat.global;
    rest.source += whole_ones * repeat.source;
    rest.destination += whole_ones * repeat.destination;
    rest.repeats[level].count = 1;
    if (level + 1 < family.repeats.size()) clip(rest, end, level + 1, out);
}

/// Drops loops of one iteration, and joins loops that continue each other.
void tidy(std::vector<Repeat>& repeats) {
    if (repeats.size() < 2) return;
    std::vector<Repeat> kept;
    for (std::size_t i = repeats.size(); i-- > 0;) {
        const Repeat& repeat = repeats[i];
        if (kept.empty()) {
            kept.push_back(repeat);
            continue;
        }
        Repeat& inner = kept.back();
        if (repeat.count == 1) continue;
        if (inner.count == 1 && kept.size() > 1) {
            inner = repeat;
        } else if (repeat.global == inner.count * inner.global &&
                   repeat.source == inner.count * inner.source &&
                   repeat.destination == inner.count * inner.destination) {
            inner.count *= repeat.count;
        } else {
            kept.push_back(repeat);
        }
    }
    repeats.assign(kept.rbegin(), kept.rend());
}

bool continues(const Family& a, const Family& b) {
    const std::int64_t length = a.repeats.back().count;
    return b.first == a.first + length && b.source == a.source + length &&
           b.destination == a.destination + length && a.repeats.size() == b.repeats.size() &&
           std::equal(a.repeats.begin(), a.repeats.end() - 1, b.repeats.begin());
}

/// Sorts by first element and joins runs that touch.
void join(std::vector<Family>& families) {
    for (Family& family : families) tidy(family.repeats);
    const auto before = [](const Family& a, const Family& b) { return a.first < b.first; };
    if (!std::is_sorted(families.begin(), families.end(), before))
        std::sort(families.begin(), families.end(), before);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < families.size(); ++i) {
        if (kept > 0 && continues(families[kept - 1], families[i]))
            families[kept - 1].repeats.back().count += families[i].repeats.back().count;
        else if (kept++ != i)
            families[kept - 1] = std::move(families[i]);
    }
    families.resize(kept);
}

/// Folds equally spaced families of one form into one. The new loop goes outermost, whatever its
/// stride, so later code must not rely on the order of strides.
void fold(std::vector<Family>& families) {
    const std::vector<Family> joined = std::move(families);
    families.clear();
    for (std::size_t i = 0; i < joined.size();) {
        std::size_t end = i + 1;
        const auto step = [&](std::size_t k) {
            return std::tuple(joined[k].first - joined[k - 1].first,
                              joined[k].source - joined[k - 1].source,
                              joined[k].destination - joined[k - 1].destination);
        };
        while (end < joined.size() && joined[end].repeats == joined[i].repeats &&
               step(end) == step(i + 1))
            ++end;
        Family family = joined[i];
        if (end - i > 1) {
            const auto [global, source, destination] = step(i + 1);
            family.repeats.insert(family.repeats.begin(), {static_cast<std::int64_t>(end - i),
                                                           global, source, destination});
            tidy(family.repeats);
        }
        families.push_back(std::move(family));
        i = end;
    }
}

/// The period of the intersection, or the extent if it does not repeat.
std::int64_t common_period(const IndexSet& a, const IndexSet& b) {
    const std::int64_t extent = a.extent();
    if (!a.repeats() || !b.repeats()) return extent;
    const std::int64_t period = base::lcm_up_to(a.period(), b.period(), extent);
    return period > extent / 2 ? extent : period;
}

std::int64_t count_within(const IndexSet& a, const IndexSet& b, std::int64_t end) {
    const bool a_fewer = a.runs_within(0, end) <= b.runs_within(0, end);
    const IndexSet& few = a_fewer ? a : b;
    const IndexSet& many = a_fewer ? b : a;
    std::int64_t count = 0;
    for_runs(few, 0, end, [&](std::int64_t first, std::int64_t last) {
        count += many.count_below(last) - many.count_below(first);
    });
    return count;
}

}  // namespace

std::vector<Family> intersect(const IndexSet& source, const IndexSet& destination) {
    std::vector<Family> found;
    if (source.empty() || destination.empty()) return found;
    const std::int64_t extent = source.extent();
    const std::int64_t period = common_period(source, destination);
    if (use_congruences(source, destination, period)) {
        add_common_runs(source, destination, found);
        join(found);
        fold(found);
        return found;
    }
    Sweep(source, destination, found).run(0, period);
    if (period < extent) {
        join(found);
        std::vector<Family> repeated;
        for (Family& family : found) {
            const Repeat again{(extent - family.first - 1) / period + 1, period,
                               period / source.period() * source.per_period(),
                               period / destination.period() * destination.per_period()};
            family.repeats.insert(family.repeats.begin(), again);
            clip(family, extent, 0, repeated);
        }
        found = std::move(repeated);
    }
    join(found);
    fold(found);
    return found;
}

std::int64_t count_common(const IndexSet& a, const IndexSet& b) {
    if (a.empty() || b.empty()) return 0;
    const std::int64_t extent = a.extent();
    const std::int64_t period = common_period(a, b);
    if (use_congruences(a, b, period)) return count_common_runs(a, b);
    if (period == extent) return count_within(a, b, extent);
    return extent / period * count_within(a, b, period) + count_within(a, b, extent % period);
}

bool any_common(const IndexSet& a, const IndexSet& b) {
    if (a.empty() || b.empty()) return false;
    return a.repeats() && b.repeats() ? any_common_run(a, b) : count_common(a, b) > 0;
}

}  // namespace hocket::layout
