// SPDX-License-Identifier: BSD-3-Clause
// A panel's factorization. No row leaves its process: `Order` tracks where each one is. The pivot
// search is one exchange a column, which includes the pivot row's elements in a block of up to
// Grid::search_width() columns; wider parts of pivot rows are exchanged once a level of the
// recursion.
#include <algorithm>
#include <cmath>
#include <utility>

#include "../model.hpp"
#include "panel.hpp"
#include "rows.hpp"

namespace linpack {
namespace {

// So few columns are eliminated without products.
constexpr std::int64_t at_once = 4;

// Copies rows of one matrix to rows of another, or of the same, a few columns at a time.
void move_rows(const Block& source, const std::vector<std::int64_t>& from, const Block& target,
               const std::vector<std::int64_t>& to) {
    const auto count = static_cast<std::int64_t>(from.size());
    std::vector<double> standing(static_cast<std::size_t>(count * together));
    for (std::int64_t j = 0; j < source.columns; j += together) {
        const std::int64_t columns = std::min(together, source.columns - j);
        const Block kept{standing.data(), count, columns, count};
        take_rows(source.part(0, j, source.rows, columns), from, kept);
        put_rows(kept, to, target.part(0, j, target.rows, columns));
    }
}

class Factoring {
  public:
    Factoring(const Matrix& matrix, Panel& panel, Order order, const Product& subtract)
        : matrix_(matrix),
          panel_(panel),
          subtract_(subtract),
          order_(std::move(order)),
          top_(panel.top()),
          work_(matrix.local().part(0, matrix.local_column(panel.first()), matrix.local().rows,
                                    panel.width())) {}

    void run() { eliminate(0, work_.columns); }

  private:
    // Eliminates columns from `at` on, whose rows before `at` are done, recursively in halves.
    void eliminate(std::int64_t at, std::int64_t count) {
        const bool searched = count <= matrix_.grid().search_width();
        if (searched && at >= end_) {
            begin_ = at;
            end_ = at + count;
            search_ = &matrix_.grid().pivot_search(count);
        }
        if (count <= at_once && searched) {
            for (std::int64_t j = at; j < at + count; ++j) eliminate_column(j, at + count);
            return;
        }
        const std::int64_t half = count / 2, middle = at + half, rest = count - half;
        eliminate(at, half);
        if (!searched) share(at, middle, half, rest);
        const Block upper = top_.part(at, middle, half, rest);
        solve_lower(top_.part(at, at, half, half), upper);
        std::vector<std::int64_t> solved, fronts;
        for (std::int64_t i = at; i < middle; ++i) {
            const std::int64_t front = fronts_[static_cast<std::size_t>(i)];
            if (front < 0) continue;
            solved.push_back(i - at);
            fronts.push_back(front);
        }
        move_rows(upper, solved, work_.part(0, middle, work_.rows, rest), fronts);
        const std::int64_t done = order_.done(), active = work_.rows - done;
        subtract_(work_.part(done, at, active, half), upper,
                  work_.part(done, middle, active, rest));
        eliminate(middle, rest);
        if (!searched) share(middle, at, rest, half);
    }

    // The columns up to `end` are eliminated one by one.
    void eliminate_column(std::int64_t j, std::int64_t end) {
        find_candidate(j);
        search_->decide(j - begin_);
        take_pivot(j);
        const double* const row = search_->elements() - begin_;
        for (std::int64_t c = begin_; c < end_; ++c) top_.at(j, c) = row[c];
        const double pivot = row[j];
        if (pivot == 0) {  // the whole column is 0: as LAPACK, continue, and report it in the end
            if (panel_.singular() < 0)
                panel_.pivots().at(panel_.width(), 0) = static_cast<double>(panel_.first() + j);
            return;
        }
        const std::int64_t done = order_.done(), active = work_.rows - done;
        // A search, a division, and for each further column a product and a difference.
        const auto operations = static_cast<double>(active * (2 * (end - j)));
        if (apps::modelled(apps::Work::panel, operations)) {
            if (apps::coarse())
                subtract_(work_.part(done, j, active, 1), top_.part(j, j, 1, end - j),
                          work_.part(done, j, active, end - j));
            return;
        }
        eliminate_with(work_.part(done, j, active, end - j), row + j);
    }

    // The largest of this process's remaining rows; among equal ones the first.
    void find_candidate(std::int64_t j) {
        search_->place() = -1;
        std::int64_t best = order_.done();
        if (best == work_.rows) return;
        double most = std::fabs(work_.at(best, j));
        for (std::int64_t s = best + 1; s < work_.rows; ++s) {
            const double x = std::fabs(work_.at(s, j));
            if (x > most || (x == most && order_.position(s) < order_.position(best))) {
                best = s;
                most = x;
            }
        }
        search_->place() = static_cast<double>(order_.position(best));
        double* const elements = search_->elements() - begin_;
        for (std::int64_t c = begin_; c < end_; ++c) elements[c] = work_.at(best, c);
    }

    // The winner becomes the panel's row j; the row there takes its position.
    void take_pivot(std::int64_t j) {
        panel_.pivots().at(j, 0) = search_->place();
        const std::int64_t was = order_.exchange(panel_.first() + j, panel_.pivot(j)),
                           now = order_.done() - 1;
        fronts_.push_back(was < 0 ? -1 : now);
        if (was >= 0 && was != now) swap_rows(work_, {&was, 1}, {&now, 1});
    }

    // A part of `top_`, from the processes that have its rows.
    void share(std::int64_t first, std::int64_t left, std::int64_t rows, std::int64_t columns) {
        const Grid& grid = matrix_.grid();
        const Block target = top_.part(first, left, rows, columns);
        std::vector<std::vector<std::int64_t>> held(static_cast<std::size_t>(grid.rows()));
        for (std::int64_t i = 0; i < rows; ++i)
            held[static_cast<std::size_t>(order_.owner(panel_.first() + first + i))].push_back(i);
        // It has memory for all rows, whichever process has them.
        Sharing& sharing = grid.sharing(rows, columns);
        std::vector<std::int64_t> mine;
        for (const auto i : held[static_cast<std::size_t>(grid.row())])
            mine.push_back(fronts_[static_cast<std::size_t>(first + i)]);
        const auto rows_of = [&](const Block& shared, std::size_t count) {
            return shared.part(0, 0, static_cast<std::int64_t>(count), columns);
        };
        take_rows(work_.part(0, left, work_.rows, columns), mine,
                  rows_of(sharing.mine(), mine.size()));
        sharing.exchange();
        for (std::size_t r = 0; r < held.size(); ++r)
            put_rows(rows_of(sharing.of(r), held[r].size()), held[r], target);
    }

    const Matrix& matrix_;
    Panel& panel_;
    const Product& subtract_;
    Order order_;
    Block top_;
    Block work_;                        // in the matrix
    std::vector<std::int64_t> fronts_;  // row of the panel -> its local row; -1: elsewhere
    PivotSearch* search_ = nullptr;     // about a block of columns:
    std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace

// The recursion of Factoring::eliminate.
void connect(const Grid& grid, std::int64_t width) {
    if (width <= grid.search_width()) {
        grid.pivot_search(width).decide(0);
        return;
    }
    const std::int64_t half = width / 2, rest = width - half;
    connect(grid, half);
    grid.sharing(half, rest).exchange();
    connect(grid, rest);
    grid.sharing(rest, half).exchange();
}

void factor(const Matrix& matrix, Panel& panel, Order order, const Product& subtract) {
    const std::int64_t sent = panel.sent();
    Factoring(matrix, panel, std::move(order), subtract).run();
    if (matrix.grid().columns() > 1) {
        const Block below = panel.below(sent);
        copy(matrix.local().part(sent, matrix.local_column(panel.first()), below.rows,
                                 below.columns),
             below);
    }
    copy(panel.top(), matrix.triangle(panel.step()));
    invert_lower(panel.top());
}

}  // namespace linpack
