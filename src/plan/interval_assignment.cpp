// SPDX-License-Identifier: BSD-3-Clause
#include "plan/interval_assignment.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

namespace {

using base::wide;
using layout::Axis;

/// The peers that have most indices in common with a coordinate, as a few intervals.
struct Best {
    wide weight = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> peers;  // [first, last)
};

Best best_of(const layout::IndexSet& held, const Axis& peer) {
    Best best;
    if (held.empty()) return best;
    const layout::Run& run = held.runs()[0];
    const std::int64_t a = peer.position(run.first), b = peer.position(run.first + run.length - 1);
    const std::int64_t low = std::min(a, b), high = std::max(a, b) + 1, p = peer.procs;
    const std::int64_t lowest = low / peer.block, last = (high - 1) / peer.block - lowest;
    // Block j of 0 to `last` is on coordinate (lowest + j) mod p; the ends may be shorter.
    const std::int64_t rounds = last / p, turn = last % p;
    const wide head = low - static_cast<wide>(lowest) * peer.block;
    const wide tail = static_cast<wide>(lowest + last + 1) * peer.block - high;
    const auto offer = [&](std::int64_t first, std::int64_t end) {
        if (first >= end) return;
        wide weight = static_cast<wide>(rounds + (first <= turn ? 1 : 0)) * peer.block;
        if (first == 0) weight -= head;
        if (first <= turn && turn < end) weight -= tail;
        if (weight < best.weight || weight == 0) return;
        if (weight > best.weight) best.peers.clear();
        best.weight = weight;
        const std::int64_t from = (lowest + first) % p, to = from + end - first;
        best.peers.emplace_back(from, std::min(to, p));
        if (to > p) best.peers.emplace_back(0, to - p);
    };
    offer(0, 1);
    offer(1, turn);
    if (turn > 0) offer(turn, turn + 1);
    offer(turn + 1, p);
    return best;
}

/// The members of [0, size) that are not removed.
class Remaining {
  public:
    explicit Remaining(std::int64_t size) : next_(at(size + 1)) {
        std::iota(next_.begin(), next_.end(), 0);
    }
    std::int64_t from(std::int64_t i) {  ///< the first one from i on; `size` if there is none
        while (next_[at(i)] != i) {
            next_[at(i)] = next_[at(next_[at(i)])];
            i = next_[at(i)];
        }
        return i;
    }
    void remove(std::int64_t i) { next_[at(i)] = i + 1; }

  private:
    std::vector<std::int64_t> next_;
};

/// Adds rows to a matching of intervals. A row that is matched stays so.
class Matcher {
  public:
    Matcher(const std::vector<Best>& rows, std::int64_t columns)
        : rows_(rows),
          columns_(columns),
          free_(columns),
          row_of_(at(columns), -1),
          column_of_(rows.size(), -1) {}

    /// As many of these rows as possible; each takes the column of its own number if it can.
    void add(std::vector<std::int64_t> rows) {
        std::erase_if(rows, [this](std::int64_t row) {
            const auto& peers = rows_[at(row)].peers;
            const bool own = row < columns_ && row_of_[at(row)] < 0 &&
                             std::any_of(peers.begin(), peers.end(), [&](const auto& each) {
                                 return each.first <= row && row < each.second;
                             });
            if (own) join(row, row);
            return own;
        });
        std::erase_if(rows, [this](std::int64_t row) {
            for (const auto& [first, last] : rows_[at(row)].peers) {
                const std::int64_t column = free_.from(first);
                if (column >= last) continue;
                join(row, column);
                return true;
            }
            return false;
        });
        while (!rows.empty() && augment(rows)) {
        }
    }
    const std::vector<std::int64_t>& column_of() const { return column_of_; }

  private:
    void join(std::int64_t row, std::int64_t column) {
        row_of_[at(column)] = row;
        column_of_[at(row)] = column;
        free_.remove(column);
    }

    /// One search from all these rows, which visits every column once: augments along one path of
    /// each tree that has one, and removes its row. False if there is no path.
    bool augment(std::vector<std::int64_t>& rows) {
        Remaining unseen(columns_);
        std::vector<std::int64_t> through(at(columns_), -1);  // the row that has found the column
        std::vector<std::pair<std::int64_t, std::int64_t>> queue;  // row, the root of its tree
        std::vector<bool> done(rows_.size(), false);
        queue.reserve(rows.size());
        for (const std::int64_t row : rows) queue.emplace_back(row, row);
        bool found = false;
        for (std::size_t k = 0; k < queue.size(); ++k) {
            const auto [row, root] = queue[k];
            if (done[at(root)]) continue;
            const std::int64_t end = extend(row, root, unseen, through, queue);
            if (end < 0) continue;
            done[at(root)] = found = true;
            free_.remove(end);
            for (std::int64_t column = end; column >= 0;) {
                const std::int64_t taker = through[at(column)];
                row_of_[at(column)] = taker;
                std::swap(column_of_[at(taker)], column);  // its former column goes on
            }
        }
        std::erase_if(rows, [&](std::int64_t row) { return done[at(row)]; });
        return found;
    }
    /// The columns that a row finds. Ends at a free one, and returns it.
    std::int64_t extend(std::int64_t row, std::int64_t root, Remaining& unseen,
                        std::vector<std::int64_t>& through,
                        std::vector<std::pair<std::int64_t, std::int64_t>>& queue) {
        for (const auto& [first, last] : rows_[at(row)].peers)
            for (std::int64_t c = unseen.from(first); c < last; c = unseen.from(c)) {
                unseen.remove(c);
                through[at(c)] = row;
                if (row_of_[at(c)] < 0) return c;
                queue.emplace_back(row_of_[at(c)], root);
            }
        return -1;
    }

    const std::vector<Best>& rows_;
    std::int64_t columns_;
    Remaining free_;
    std::vector<std::int64_t> row_of_, column_of_;
};

/// Whether each position of the arrangement is a process that holds its coordinates' product, and
/// no process has a copy.
bool plain(const layout::Form& form) {
    if (!form.gridded() || form.copies > 1) return false;
    for (std::size_t g = 0; g < form.grid.size(); ++g)
        if (form.base.procs[g] > 1 && form.grid[g].kind != layout::Role::Kind::dimension)
            return false;
    return true;
}

/// With `rows` as the side whose processes choose.
std::optional<std::vector<std::int64_t>> assign_from(const Problem& problem, Side rows) {
    const layout::Form &own = problem.form(rows), &peers = problem.form(other(rows));
    std::vector<std::optional<IntervalMatching>> matchings(problem.where.size());
    std::size_t distributed = 0;
    bool all_best = true, most = true;
    for (std::size_t d = 0; d < matchings.size(); ++d) {
        const Axis &a = problem.axis(rows, d), &b = problem.axis(other(rows), d);
        if (a.procs == 1 && b.procs == 1) continue;
        if (!IntervalMatching::possible(a, b)) return {};
        matchings[d].emplace(a, b);
        ++distributed;
        all_best = all_best && matchings[d]->all_best;
        most = most && matchings[d]->most;
    }
    if (!(all_best || (distributed == 1 && most))) return {};
    std::vector<std::int64_t> ranks(at(problem.destination.size()), -1);
    for (std::int64_t rank = 0; rank < own.size; ++rank) {
        const auto here = own.place(rank);
        if (!here) continue;
        Shape there(peers.grid.size(), 0);
        bool matched = true;
        for (std::size_t d = 0; d < matchings.size() && matched; ++d) {
            if (!matchings[d]) continue;
            const std::int64_t c = own.coordinate(problem.dimension(rows, d), *here);
            const std::int64_t peer = matchings[d]->peer_of[at(c)];
            matched = peer >= 0;
            there[at(problem.axis(other(rows), d).grid)] = peer;
        }
        if (!matched) continue;
        const std::int64_t peer = peers.process_at(peers.position(there));
        if (rows == Side::source)
            ranks[at(peer)] = rank;
        else
            ranks[at(rank)] = peer;
    }
    return ranks;
}

}  // namespace

bool IntervalMatching::possible(const Axis& own, const Axis& peer) {
    return own.procs > 1 && peer.procs > 1 && !peer.partition && std::abs(peer.stride) == 1 &&
           has_count_formula(own, peer);
}

IntervalMatching::IntervalMatching(const Axis& own, const Axis& peer) {
    std::vector<Best> rows;
    std::vector<std::int64_t> order;
    for (std::int64_t c = 0; c < own.procs; ++c) {
        const layout::IndexSet held = layout::held_by(own, c);
        if (held.repeats() || held.runs().size() > 1) {
            all_best = most = false;
            return;
        }
        rows.push_back(best_of(held, peer));
        if (rows.back().weight > 0) order.push_back(c);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return rows[at(a)].weight > rows[at(b)].weight;
    });
    Matcher matcher(rows, peer.procs);
    const auto end_of = [&](auto first) {
        return std::find_if(first, order.end(), [&](std::int64_t row) {
            return rows[at(row)].weight != rows[at(*first)].weight;
        });
    };
    for (auto first = order.begin(); first != order.end();) {
        const auto last = end_of(first);
        matcher.add({first, last});
        first = last;
    }
    peer_of = matcher.column_of();
    // The first rows in `order` are an upper bound for as many columns.
    wide have = 0, bound = 0;
    std::int64_t counted = 0;
    for (const std::int64_t row : order) {
        if (peer_of[at(row)] >= 0) have += rows[at(row)].weight;
        all_best = all_best && peer_of[at(row)] >= 0;
        if (counted++ < peer.procs) bound += rows[at(row)].weight;
    }
    most = have == bound;
}

std::optional<std::vector<std::int64_t>> assign_intervals(const Problem& problem) {
    if (!plain(problem.source.form()) || !plain(problem.destination.form())) return {};
    for (const Side side : {Side::source, Side::destination})
        if (auto found = assign_from(problem, side)) return found;
    return {};
}

}  // namespace hocket::plan
