// SPDX-License-Identifier: BSD-3-Clause
#include "plan/totals.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "plan/part.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

namespace {

/// Calls `visit(count)` for the pairs that are one process, with the number of their common
/// elements.
template <class Visit>
void for_same(const Problem& problem, Visit&& visit) {
    const auto look = [&](std::int64_t source, std::int64_t destination) {
        const std::int64_t count = problem.common(source, destination);
        if (count > 0) visit(count);
    };
    for (const auto& [source, destination] : problem.reverse) look(source, destination);
    const std::int64_t both = std::min(problem.source.size(), problem.destination.size());
    for (std::int64_t r = 0; problem.options.same_ranks && r < both; ++r) look(r, r);
}

std::vector<Traffic> peers_of(const std::shared_ptr<const Problem>& problem, Side side,
                              std::int64_t rank) {
    return make_part(problem, side, rank)->peers;
}

}  // namespace

std::int64_t count_moved(const Problem& problem) {
    std::int64_t moved = problem.wanted();
    for_same(problem, [&](std::int64_t count) { moved -= count; });
    return moved;
}

std::int64_t count_messages(const std::shared_ptr<const Problem>& problem) {
    const layout::Form &from = problem->source.form(), &to = problem->destination.form();
    if (from.elements == 0) return 0;
    std::int64_t messages = 0;
    if (from.copies > 1 || !from.gridded() || !to.gridded()) {  // not a product over the dimensions
        for (std::int64_t rank = 0; rank < to.size; ++rank) {
            const std::int64_t same = problem->same(Side::destination, rank);
            for (const Traffic& peer : peers_of(problem, Side::destination, rank))
                if (peer.process != same) ++messages;
        }
        return messages;
    }
    messages = to.copies;
    for (std::size_t d = 0; d < from.axes.size(); ++d) {
        const layout::Axis& a = problem->axis(Side::source, d);
        const layout::Axis& b = problem->axis(Side::destination, d);
        const bool a_formula = has_count_formula(a, b), b_formula = has_count_formula(b, a);
        const bool from_a = a_formula == b_formula ? a.procs <= b.procs : a_formula;
        std::int64_t pairs = 0;
        for (std::int64_t c = 0; c < (from_a ? a : b).procs; ++c)
            pairs += count_shares(layout::held_by(from_a ? a : b, c), from_a ? b : a);
        messages *= pairs;
    }
    for_same(*problem, [&](std::int64_t) { --messages; });
    return messages;
}

}  // namespace hocket::plan
