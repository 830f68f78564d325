// SPDX-License-Identifier: BSD-3-Clause
// Two layouts are equal when every process holds the same indices, however they were written.
#include <algorithm>
#include <functional>

#include "layout/family.hpp"
#include "layout/form.hpp"

namespace hocket::layout {

namespace {

bool equal(const IndexSet& a, const IndexSet& b) {
    if (a.count() != b.count()) return false;
    if (a.period() == b.period() && a.runs() == b.runs()) return true;
    return count_common(a, b) == a.count();
}

bool any_empty(const std::vector<IndexSet>& sets) {
    return std::any_of(sets.begin(), sets.end(), [](const IndexSet& s) { return s.empty(); });
}

bool same_processes(const Form& a, const Form& b) {
    for (std::int64_t rank = 0; rank < a.size; ++rank) {
        const std::vector<IndexSet> in_a = a.sets(rank), in_b = b.sets(rank);
        // Without dimensions the sets say nothing of who takes part.
        const bool none_a = any_empty(in_a) || !a.takes_part(a.coordinates(rank));
        const bool none_b = any_empty(in_b) || !b.takes_part(b.coordinates(rank));
        if (none_a != none_b) return false;
        if (none_a) continue;
        for (std::size_t d = 0; d < in_a.size(); ++d)
            if (!equal(in_a[d], in_b[d])) return false;
    }
    return true;
}

void mix(std::size_t& seed, std::int64_t value) {
    seed ^= std::hash<std::int64_t>{}(value) + 0x9e3779b97f4a7c15U + (seed << 6) + (seed >> 2);
}

}  // namespace

bool equal(const Form& a, const Form& b) {
    if (&a == &b) return true;
    if (a.shape != b.shape || a.size != b.size) return false;
    if (a.elements == 0) return true;
    if (a.base.procs == b.base.procs && a.axes == b.axes && a.grid == b.grid) return true;
    return same_processes(a, b);
}

std::size_t hash(const Form& form) {
    // What equal layouts share whatever was written: shape, size, and a few processes' sets.
    std::size_t seed = form.shape.size();
    for (const std::int64_t extent : form.shape) mix(seed, extent);
    mix(seed, form.size);
    if (form.elements == 0) return seed;
    for (const std::int64_t rank : {std::int64_t{0}, form.size / 2, form.size - 1}) {
        const std::vector<IndexSet> sets = form.sets(rank);
        const bool none = any_empty(sets) || !form.takes_part(form.coordinates(rank));
        mix(seed, none ? 0 : 1);
        if (none) continue;
        for (const IndexSet& set : sets) {
            mix(seed, set.count());
            mix(seed, set.element(0));
            mix(seed, set.element(set.count() - 1));
        }
    }
    return seed;
}

}  // namespace hocket::layout
