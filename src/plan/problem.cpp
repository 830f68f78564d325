// SPDX-License-Identifier: BSD-3-Clause
#include "plan/problem.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "layout/family.hpp"
#include "plan/common_boxes.hpp"
#include "plan/cover.hpp"

namespace hocket::plan {

namespace {

// The source's dimension for each of the destination's, each from 0 on.
std::vector<std::int64_t> checked_axes(const Layout& source, const Layout& destination,
                                       std::vector<std::int64_t> axes) {
    const std::size_t n = source.dimensions();
    if (axes.empty())
        for (std::size_t d = 0; d < n; ++d) axes.push_back(static_cast<std::int64_t>(d));
    const std::vector<std::int64_t> given = axes;
    std::vector<bool> seen(n, false);
    if (axes.size() != n)
        throw LayoutError(text::axes(given) + (text::first_index() == 0 ? " do" : " does") +
                          " not fit the source's shape " + layout::text_of(source.shape()) +
                          "; name each of its " + std::to_string(n) + " dimensions once");
    for (std::int64_t& axis : axes) {
        if (axis < 0) axis += static_cast<std::int64_t>(n);
        if (axis < 0 || axis >= static_cast<std::int64_t>(n) ||
            seen[static_cast<std::size_t>(axis)])
            throw LayoutError(text::axes(given) + ": no permutation of the " + std::to_string(n) +
                              " dimensions of the source; name each once");
        seen[static_cast<std::size_t>(axis)] = true;
    }
    Shape wanted;
    for (const std::int64_t axis : axes)
        wanted.push_back(source.shape()[static_cast<std::size_t>(axis)]);
    if (wanted != destination.shape())
        throw LayoutError("the source " + layout::brief(source.form()) +
                          " gives an array of shape " + layout::text_of(wanted) +
                          (wanted == source.shape() ? "" : " under " + text::axes(axes)) +
                          ", but the destination is " + layout::brief(destination.form()) +
                          "; make the shapes equal, or give the " +
                          (text::first_index() == 0 ? "axes that turn" : "order that turns") +
                          " one into the other");
    return axes;
}

// Problem::reverse.
std::vector<std::pair<std::int64_t, std::int64_t>> checked_overlap(
    const Layout& source, const Layout& destination, const std::vector<std::int64_t>& overlap) {
    std::vector<std::pair<std::int64_t, std::int64_t>> reverse;
    if (overlap.empty()) return reverse;
    if (static_cast<std::int64_t>(overlap.size()) != destination.size())
        throw LayoutError("overlap names " + std::to_string(overlap.size()) +
                          " processes, but the destination has " +
                          std::to_string(destination.size()) +
                          "; give each the source process that is the same one, or -1");
    for (std::size_t d = 0; d < overlap.size(); ++d) {
        const std::int64_t s = overlap[d];
        if (s < -1 || s >= source.size())
            throw LayoutError("overlap says that destination process " + std::to_string(d) +
                              " is source process " + std::to_string(s) +
                              ", but the source's processes are 0 to " +
                              std::to_string(source.size() - 1) + "; -1 means none");
        if (s < 0) continue;
        reverse.emplace_back(s, static_cast<std::int64_t>(d));
    }
    if (!std::is_sorted(reverse.begin(), reverse.end())) std::sort(reverse.begin(), reverse.end());
    const auto twice =
        std::adjacent_find(reverse.begin(), reverse.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != reverse.end())
        throw LayoutError("overlap says that destination processes " +
                          std::to_string(twice->second) + " and " +
                          std::to_string((twice + 1)->second) + " are both source process " +
                          std::to_string(twice->first) + "; it must be one-to-one");
    return reverse;
}

void check_nodes(const std::vector<std::int64_t>& nodes, const Layout& layout, const char* side) {
    if (nodes.empty() || static_cast<std::int64_t>(nodes.size()) == layout.size()) return;
    throw LayoutError("the nodes of " + std::to_string(nodes.size()) +
                      " processes are given for the " + side + ", which has " +
                      std::to_string(layout.size()) +
                      "; give one number a process, for both sides");
}

void check_numbers(const Layout& source, const Layout& destination, const Options& options) {
    check_nodes(options.source_nodes, source, "source");
    check_nodes(options.destination_nodes, destination, "destination");
    if (options.source_nodes.empty() != options.destination_nodes.empty())
        throw LayoutError("nodes are given for one side only; give them for both, or for none");
    if (options.itemsize < 1)
        throw LayoutError("itemsize " + std::to_string(options.itemsize) +
                          " is no size of an element; give its bytes, 1 or more");
    const auto bytes = base::product(source.num_elements(), options.itemsize);
    if (!bytes || !base::product(*bytes, destination.form().copies))
        throw LayoutError("moving " + layout::text_of(source.shape()) + " elements of " +
                          std::to_string(options.itemsize) + " bytes to " +
                          std::to_string(destination.form().copies) +
                          " copies is more than 2^63 - 1 bytes; move a smaller array");
}

}  // namespace

void check(const Layout& source, const Layout& destination, const Options& options) {
    if (may_have_gaps(source)) {  // to search them takes the whole problem
        static_cast<void>(Problem(source, destination, options));
        return;
    }
    static_cast<void>(checked_axes(source, destination, options.axes));
    static_cast<void>(checked_overlap(source, destination, options.overlap));
    check_numbers(source, destination, options);
}

Problem::Problem(Layout from, Layout to, Options given)
    : source(std::move(from)), destination(std::move(to)), options(std::move(given)) {
    options.axes = checked_axes(source, destination, std::move(options.axes));
    where.resize(options.axes.size());
    for (std::size_t j = 0; j < where.size(); ++j)
        where[static_cast<std::size_t>(options.axes[j])] = j;
    reverse = checked_overlap(source, destination, options.overlap);
    check_numbers(source, destination, options);
    if (!options.partial) check_cover(*this);
}

bool Problem::turned() const {
    for (std::size_t d = 0; d < where.size(); ++d)
        if (where[d] != d) return true;
    return false;
}

bool Problem::scattered_copies() const {
    const layout::Form& from = source.form();
    return (from.indexed() && from.segments->copies()) || (from.boxes && from.boxes->overlap());
}

bool Problem::has_common_boxes() const {
    return source.is_indexed() || destination.is_indexed() || scattered_copies();
}

std::int64_t Problem::wanted() const {
    const layout::Form& to = destination.form();
    if (to.boxes) return to.boxes->total();
    return to.indexed() ? to.segments->total() : to.elements * to.copies;
}

std::vector<layout::IndexSet> Problem::sets(Side side, std::int64_t rank) const {
    std::vector<layout::IndexSet> sets = form(side).sets(rank);
    if (side == Side::source) return sets;
    std::vector<layout::IndexSet> turned(sets.size());
    for (std::size_t d = 0; d < sets.size(); ++d) turned[d] = std::move(sets[where[d]]);
    return turned;
}

std::int64_t Problem::common(std::int64_t source_rank, std::int64_t destination_rank) const {
    if (source.is_indexed() || destination.is_indexed()) {
        for (const PeerBoxes& group : peer_boxes_of(*this, Side::source, source_rank, Holders::all))
            if (group.peer == destination_rank) return group.count;
        return 0;
    }
    if (!source.form().place(source_rank) || !destination.form().place(destination_rank)) return 0;
    const std::vector<layout::IndexSet> held = sets(Side::source, source_rank);
    const std::vector<layout::IndexSet> wanted = sets(Side::destination, destination_rank);
    std::int64_t count = 1;
    for (std::size_t d = 0; d < where.size() && count > 0; ++d)
        count *= layout::count_common(held[d], wanted[d]);
    return count;
}

std::int64_t Problem::same(Side side, std::int64_t rank) const {
    if (options.same_ranks) return rank < form(other(side)).size ? rank : -1;
    if (options.overlap.empty()) return -1;
    if (side == Side::destination) return options.overlap[static_cast<std::size_t>(rank)];
    const auto at =
        std::lower_bound(reverse.begin(), reverse.end(), std::pair(rank, std::int64_t{0}));
    return at == reverse.end() || at->first != rank ? -1 : at->second;
}

}  // namespace hocket::plan
