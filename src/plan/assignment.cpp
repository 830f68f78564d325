// SPDX-License-Identifier: BSD-3-Clause
#include "plan/assignment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked.hpp"

namespace hocket::plan {

namespace {

using base::wide;  // sums of a few weights, each of which may need 63 bits
constexpr wide far = static_cast<wide>(std::numeric_limits<std::int64_t>::max()) * 8;

/// Costs are negative weights. A row may also stay unassigned: row i then takes a private column,
/// number columns + i, of cost 0, which is never full. Invariant: cost - row_value - column_value
/// is at least 0, is 0 for pairs with flow, and column values are 0 for columns that are not full.
class Assignment {
  public:
    explicit Assignment(const WeightTable& table)
        : rows_(table.rows),
          columns_(static_cast<std::int64_t>(table.column_counts.size())),
          left_(table.row_counts),
          room_(table.column_counts),
          row_value_(rows_.size(), 0),
          column_value_(room_.size(), 0),
          into_(room_.size()),
          distance_(room_.size() + rows_.size(), far),
          from_(distance_.size()),
          reached_(rows_.size(), far),
          through_(rows_.size(), none) {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (const Weight& each : rows_[i])
                row_value_[i] = std::min<wide>(row_value_[i], -each.weight);
    }

    std::vector<Flow> run(const std::vector<Flow>& preferred) {
        for (const Flow& each : preferred) fill(each.row, {each.column, each.weight}, each.count);
        for (std::int64_t i = 0; i < rows(); ++i)
            for (const Weight& entry : rows_[at(i)]) fill(i, entry, left_[at(i)]);
        for (std::int64_t i = 0; i < rows(); ++i)
            while (left_[at(i)] > 0) augment(i);
        std::vector<Flow> flows;
        for (const std::vector<Flow>& column : into_)
            flows.insert(flows.end(), column.begin(), column.end());
        return flows;
    }

  private:
    struct Step {
        std::int64_t row = none, weight = 0;
    };
    static constexpr std::int64_t none = -1;
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

    std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }

    /// The flow of a pair in the list of its column.
    std::vector<Flow>::iterator flow_of(std::int64_t row, std::int64_t column) {
        auto& flows = into_[at(column)];
        return std::find_if(flows.begin(), flows.end(),
                            [row](const Flow& each) { return each.row == row; });
    }
    void add(std::int64_t row, std::int64_t column, std::int64_t count, std::int64_t weight) {
        const auto flow = flow_of(row, column);
        if (flow == into_[at(column)].end())
            into_[at(column)].push_back({row, column, count, weight});
        else
            flow->count += count;
    }
    void remove(std::int64_t row, std::int64_t column, std::int64_t count) {
        const auto flow = flow_of(row, column);
        flow->count -= count;
        if (flow->count == 0) into_[at(column)].erase(flow);
    }
    /// Assigns rows to a tight column, up to `most`.
    void fill(std::int64_t row, const Weight& entry, std::int64_t most) {
        const std::int64_t count = std::min({most, left_[at(row)], room_[at(entry.column)]});
        if (count <= 0 || -entry.weight != row_value_[at(row)]) return;
        left_[at(row)] -= count;
        room_[at(entry.column)] -= count;
        add(row, entry.column, count, entry.weight);
    }

    /// Dijkstra's search from a row to the nearest column that is not full, by reduced costs. Among
    /// columns at one distance, it goes on from the last one, and ends as soon as one has room.
    void augment(std::int64_t start) {
        end_ = none;
        so_far_ = 0;
        waiting_.clear();
        near_.clear();
        visit(start, none);
        while (end_ == none) {
            std::int64_t column = none;
            if (!near_.empty()) {
                column = near_.back();
                near_.pop_back();
            } else {
                std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
                const auto [length, nearest] = waiting_.back();
                waiting_.pop_back();
                if (length > distance_[at(nearest)]) continue;
                column = nearest;
                so_far_ = length;
                if (column >= columns_ || room_[at(column)] > 0) {
                    end_ = column;
                    break;
                }
            }
            done_.push_back(column);
            for (const Flow& flow : into_[at(column)]) {
                if (reached_[at(flow.row)] != far) continue;
                visit(flow.row, column);
                if (end_ != none) break;
            }
        }
        for (const std::int64_t row : visited_) row_value_[at(row)] += so_far_ - reached_[at(row)];
        for (const std::int64_t column : done_)
            column_value_[at(column)] -= so_far_ - distance_[at(column)];
        push(start, end_);
        for (const std::int64_t row : visited_) reached_[at(row)] = far;
        for (const std::int64_t column : seen_) distance_[at(column)] = far;
        visited_.clear();
        seen_.clear();
        done_.clear();
    }
    /// `column`: through which the search has come to this row.
    void visit(std::int64_t row, std::int64_t column) {
        reached_[at(row)] = so_far_;
        through_[at(row)] = column;
        visited_.push_back(row);
        const wide base = so_far_ - row_value_[at(row)];
        relax(columns_ + row, base, {row, 0});
        for (const Weight& entry : rows_[at(row)]) {
            if (end_ != none) return;
            relax(entry.column, base - entry.weight - column_value_[at(entry.column)],
                  {row, entry.weight});
        }
    }
    void relax(std::int64_t column, wide length, const Step& step) {
        wide& best = distance_[at(column)];
        if (length >= best) return;
        if (best == far) seen_.push_back(column);
        best = length;
        from_[at(column)] = step;
        if (length > so_far_) {
            waiting_.emplace_back(length, column);
            std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
        } else if (column >= columns_ || room_[at(column)] > 0) {
            end_ = column;
        } else {
            near_.push_back(column);
        }
    }
    /// As many rows as the path from `start` to `end` allows.
    void push(std::int64_t start, std::int64_t end) {
        std::int64_t count = left_[at(start)];
        if (end < columns_) count = std::min(count, room_[at(end)]);
        for (std::int64_t row = from_[at(end)].row; row != start;) {
            const std::int64_t column = through_[at(row)];
            count = std::min(count, flow_of(row, column)->count);
            row = from_[at(column)].row;
        }
        if (end < columns_) room_[at(end)] -= count;
        left_[at(start)] -= count;
        for (std::int64_t column = end;;) {
            const Step& step = from_[at(column)];
            if (column < columns_) add(step.row, column, count, step.weight);
            if (step.row == start) return;
            column = through_[at(step.row)];
            remove(step.row, column, count);
        }
    }

    const std::vector<std::vector<Weight>>& rows_;
    std::int64_t columns_;
    std::vector<std::int64_t> left_, room_;  // rows and columns that are not assigned
    std::vector<wide> row_value_, column_value_;
    std::vector<std::vector<Flow>> into_;  // each column
    // The search: distances of columns, and the last step to each; rows, and the columns to them.
    std::vector<wide> distance_;
    std::vector<Step> from_;
    std::vector<wide> reached_;
    std::vector<std::int64_t> through_;
    std::vector<std::int64_t> visited_, seen_, done_;
    std::vector<std::int64_t> near_;                      // columns at the distance so_far_
    std::vector<std::pair<wide, std::int64_t>> waiting_;  // a heap of farther ones, with distances
    wide so_far_ = 0;
    std::int64_t end_ = none;
};

void transpose(WeightTable& table) {
    std::vector<std::vector<Weight>> rows(table.column_counts.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        for (const Weight& each : table.rows[i])
            rows[static_cast<std::size_t>(each.column)].push_back(
                {static_cast<std::int64_t>(i), each.weight});
        std::vector<Weight>().swap(table.rows[i]);
    }
    table.rows = std::move(rows);
    std::swap(table.row_counts, table.column_counts);
}

void transpose(std::vector<Flow>& flows) {
    for (Flow& each : flows) std::swap(each.row, each.column);
}

}  // namespace

std::vector<Flow> assign(WeightTable table, std::vector<Flow> preferred) {
    const auto all = [](const std::vector<std::int64_t>& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    };
    const bool by_columns = all(table.row_counts) > all(table.column_counts);
    if (by_columns) {
        transpose(table);
        transpose(preferred);
    }
    std::vector<Flow> flows = Assignment(table).run(preferred);
    if (by_columns) transpose(flows);
    return flows;
}

std::vector<std::int64_t> assign(std::vector<std::vector<Weight>> rows, std::int64_t columns) {
    WeightTable table;
    table.row_counts.resize(rows.size(), 1);
    table.column_counts.resize(static_cast<std::size_t>(columns), 1);
    std::vector<Flow> own;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        for (const Weight& each : rows[i])
            if (each.column == number) own.push_back({number, number, 1, each.weight});
    }
    std::vector<std::int64_t> found(rows.size(), -1);
    table.rows = std::move(rows);
    for (const Flow& flow : assign(std::move(table), std::move(own)))
        found[static_cast<std::size_t>(flow.row)] = flow.column;
    return found;
}

}  // namespace hocket::plan
