// SPDX-License-Identifier: BSD-3-Clause
#include "plan/assignment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "base/checked.hpp"

namespace hocket::plan {

namespace {

using base::wide;  // sums of a few weights, each of which may need 63 bits
constexpr wide far = static_cast<wide>(std::numeric_limits<std::int64_t>::max()) * 8;

/// Costs are negative weights. Row i may also stay unmatched: it then takes a private column,
/// number columns + i, of cost 0. Invariant: cost - row_value - column_value is at least 0, is 0
/// for matched pairs, and column values are 0 for free columns.
class Assignment {
  public:
    Assignment(const std::vector<std::vector<Weight>>& rows, std::int64_t columns)
        : rows_(rows),
          columns_(columns),
          row_value_(rows.size(), 0),
          column_value_(static_cast<std::size_t>(columns), 0),
          column_of_(rows.size(), -1),
          row_of_(static_cast<std::size_t>(columns) + rows.size(), -1),
          distance_(row_of_.size(), far),
          from_(row_of_.size(), -1) {}

    std::vector<std::int64_t> run() {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            for (const Weight& entry : rows_[i])
                row_value_[i] = std::min<wide>(row_value_[i], -entry.weight);
        }
        const auto number = [](std::size_t i) { return static_cast<std::int64_t>(i); };
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (const Weight& entry : rows_[i])
                if (entry.column == number(i) && -entry.weight == row_value_[i])
                    match(i, number(i));
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (const Weight& entry : rows_[i])
                if (column_of_[i] < 0 && free(entry.column) && -entry.weight == row_value_[i])
                    match(i, entry.column);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (column_of_[i] < 0) augment(number(i));
        for (std::int64_t& column : column_of_)
            if (column >= columns_) column = -1;
        return column_of_;
    }

  private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    bool free(std::int64_t column) const { return row_of_[at(column)] < 0; }
    void match(std::size_t row, std::int64_t column) {
        column_of_[row] = column;
        row_of_[at(column)] = static_cast<std::int64_t>(row);
    }

    /// Dijkstra's search from a row to the nearest free column, by reduced costs.
    void augment(std::int64_t start) {
        std::vector<std::int64_t> seen, done;
        std::priority_queue<DistanceAndColumn, std::vector<DistanceAndColumn>, std::greater<>>
            waiting;
        std::int64_t row = start, end = -1;
        wide so_far = 0;
        while (end < 0) {
            const auto relax = [&](std::int64_t column, wide cost) {
                const wide length = so_far + cost - row_value_[at(row)];
                wide& best = distance_[at(column)];
                if (length >= best) return;
                if (best == far) seen.push_back(column);
                best = length;
                from_[at(column)] = row;
                waiting.emplace(length, column);
            };
            for (const Weight& entry : rows_[at(row)])
                relax(entry.column, -entry.weight - column_value_[at(entry.column)]);
            relax(columns_ + row, 0);
            DistanceAndColumn next = waiting.top();
            for (; next.first > distance_[at(next.second)]; next = waiting.top()) waiting.pop();
            waiting.pop();
            so_far = next.first;
            if (free(next.second)) {
                end = next.second;
            } else {
                done.push_back(next.second);
                row = row_of_[at(next.second)];
            }
        }
        row_value_[at(start)] += so_far;
        for (const std::int64_t column : done) {
            const wide less = so_far - distance_[at(column)];
            row_value_[at(row_of_[at(column)])] += less;
            column_value_[at(column)] -= less;
        }
        for (std::int64_t column = end; column >= 0;) {
            const std::int64_t owner = from_[at(column)];
            const std::int64_t before = column_of_[at(owner)];
            match(at(owner), column);
            column = before;
        }
        for (const std::int64_t column : seen) distance_[at(column)] = far;
    }

    using DistanceAndColumn = std::pair<wide, std::int64_t>;  // distance, column

    const std::vector<std::vector<Weight>>& rows_;
    std::int64_t columns_;
    std::vector<wide> row_value_, column_value_;
    std::vector<std::int64_t> column_of_, row_of_;
    std::vector<wide> distance_;
    std::vector<std::int64_t> from_;
};

}  // namespace

std::vector<std::int64_t> assign(const std::vector<std::vector<Weight>>& rows,
                                 std::int64_t columns) {
    return Assignment(rows, columns).run();
}

}  // namespace hocket::plan
