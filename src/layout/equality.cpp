// SPDX-License-Identifier: BSD-3-Clause
// Equality of layouts: every process holds the same indices, however the layouts were written.
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

/// Whether every index has the same owner. Visits coordinates or indices, whichever are fewer.
bool equal(const Axis& a, const Axis& b) {
    if (a == b) return true;
    if (a.extent < a.procs) {
        for (std::int64_t i = 0; i < a.extent; ++i)
            if (a.owner(i) != b.owner(i)) return false;
        return true;
    }
    for (std::int64_t c = 0; c < a.procs; ++c)
        if (!equal(held_by(a, c), held_by(b, c))) return false;
    return true;
}

bool same_arrangement(const Form& a, const Form& b) {
    if (a.base.procs != b.base.procs || a.grid != b.grid) return false;
    if (a.order == b.order) return true;
    return a.order && b.order && a.order->process == b.order->process;
}

bool same_processes(const Form& a, const Form& b) {
    for (std::int64_t rank = 0; rank < a.size; ++rank) {
        const std::int64_t count = a.local_elements(rank);
        if (count != b.local_elements(rank)) return false;
        if (count == 0) continue;
        const std::vector<IndexSet> in_a = a.sets(rank), in_b = b.sets(rank);
        for (std::size_t d = 0; d < in_a.size(); ++d)
            if (!equal(in_a[d], in_b[d])) return false;
    }
    return true;
}

/// For listed elements, also compares local positions.
bool same_lists(const Segments& a, const Segments& b) {
    for (std::int64_t rank = 0; rank < a.size(); ++rank) {
        const std::span<const Segment> in_a = a.of(rank), in_b = b.of(rank);
        if (!std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end())) return false;
    }
    return true;
}

bool same_kind(const Form& a, const Form& b) {
    if (a.indexed() != b.indexed()) return false;
    return !a.indexed() || a.segments->listed() == b.segments->listed();
}

bool same_elements(const Layout& a, const Layout& b) {
    for (std::int64_t place = 0; place < a.num_elements(); ++place) {
        const Shape index = unflatten(place, a.shape());
        if (a.owners(index) != b.owners(index)) return false;
    }
    return true;
}

void mix(std::size_t& seed, std::int64_t value) {
    seed ^= std::hash<std::int64_t>{}(value) + 0x9e3779b97f4a7c15U + (seed << 6) + (seed >> 2);
}

}  // namespace

bool equal(const Form& a, const Form& b) {
    if (&a == &b) return true;
    if (a.shape != b.shape || a.size != b.size || !same_kind(a, b)) return false;
    if (a.elements == 0) return true;
    if (a.indexed()) return same_lists(*a.segments, *b.segments);
    if (a.gridded() && b.gridded() && same_arrangement(a, b)) {
        for (std::size_t d = 0; d < a.axes.size(); ++d)
            if (!equal(a.axes[d], b.axes[d])) return false;
        return true;
    }
    if (a.boxes || b.boxes || a.elements >= a.size) return same_processes(a, b);
    // Fewer elements than processes. These borrowed forms do not outlive the layouts.
    const auto borrow = [](const Form& form) {
        return Layout(std::shared_ptr<const Form>(std::shared_ptr<void>(), &form));
    };
    return same_elements(borrow(a), borrow(b));
}

std::size_t hash(const Form& form) {
    // Equal layouts have these in common: shape, size, and a few processes' sets.
    std::size_t seed = form.shape.size() + (form.indexed() ? 77U : 0U);
    for (const std::int64_t extent : form.shape) mix(seed, extent);
    mix(seed, form.size);
    if (form.elements == 0) return seed;
    for (const std::int64_t rank : {std::int64_t{0}, form.size / 2, form.size - 1}) {
        const std::int64_t count = form.local_elements(rank);
        mix(seed, count);
        if (count == 0) continue;
        for (const IndexSet& set : form.sets(rank)) {
            mix(seed, set.count());
            mix(seed, set.element(0));
            mix(seed, set.element(set.count() - 1));
        }
    }
    return seed;
}

}  // namespace hocket::layout
