// SPDX-License-Identifier: BSD-3-Clause
// A panel's factorization. No row leaves its process: `Order` tracks where each one is. The pivot
// search is one exchange a column, which includes the pivot row's elements in a block of up to
// Grid::search_width() columns; wider parts of pivot rows are exchanged once a level of the
// recursion.
#include <algorithm>
#include <utility>

#include "../model.hpp"
#include "column.hpp"
#include "panel.hpp"
#include "rows.hpp"

namespace linpack {
namespace {

// So few columns are eliminated without products of matrices. The model's time for such columns is
// one of memory, which fewer use less often.
constexpr std::int64_t at_once = apps::simulated ? 4 : 16;

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
            for (std::int64_t j = at; j < at + count; ++j) eliminate_column(j, at, at + count);
            if (!apps::simulated) divide(column(at + count - 1), pivot_);
            return;
        }
        const std::int64_t half = count / 2, middle = at + half, rest = count - half;
        eliminate(at, half);
        if (!searched) share(at, middle, half, rest);
        const Block upper = top_.part(at, middle, half, rest);
        solve_lower(top_.part(at, at, half, half), upper);
        const std::int64_t done = order_.done(), active = work_.rows - done;
        subtract_(work_.part(done, at, active, half), upper,
                  work_.part(done, middle, active, rest));
        eliminate(middle, rest);
        if (!searched) share(middle, at, rest, half);
    }

    // This process's remaining rows of a column.
    Block column(std::int64_t j) const {
        return work_.part(order_.done(), j, work_.rows - order_.done(), 1);
    }

    // One by one from `begin` to `end`: a column has its products only now.
    void eliminate_column(std::int64_t j, std::int64_t begin, std::int64_t end) {
        find_candidate(j, bring_up_to_date(j, begin));
        search_->decide(j - begin_);
        take_pivot(j);
        const double* const row = search_->elements() - begin_;
        for (std::int64_t c = begin_; c < end_; ++c) top_.at(j, c) = row[c];
        pivot_ = row[j];
        // 0: the whole column is. As LAPACK, continue, and report it in the end.
        if (pivot_ == 0 && panel_.singular() < 0)
            panel_.pivots().at(panel_.width(), 0) = static_cast<double>(panel_.first() + j);
        const std::int64_t done = order_.done(), active = work_.rows - done;
        // A search, a division, and for each further column a product and a difference.
        const auto operations = static_cast<double>(active * (2 * (end - j)));
        if (apps::modelled(apps::Work::panel, operations) && apps::coarse())
            subtract_(work_.part(done, j, active, 1), top_.part(j, j, 1, end - j),
                      work_.part(done, j, active, end - j));
    }

    // Subtracts the products with the columns from `begin` on. Returns the largest magnitude left.
    double bring_up_to_date(std::int64_t j, std::int64_t begin) {
        if (apps::simulated) return eliminate_last(column(j), 1, nullptr);
        const std::int64_t done = order_.done(), before = j - begin;
        double* const row = &top_.at(begin, j);
        for (std::int64_t k = 0; k < before; ++k)
            for (std::int64_t i = k + 1; i < before; ++i)
                row[i] -= top_.at(begin + i, begin + k) * row[k];
        return eliminate_last(work_.part(done, begin, work_.rows - done, before + 1), pivot_, row);
    }

    // This process's remaining row with the largest magnitude; of several, the first.
    void find_candidate(std::int64_t j, double largest) {
        search_->place() = -1;
        const Block left = column(j);
        if (left.rows == 0) return;
        const std::int64_t done = order_.done();
        // There is one; but whatever an element is, no other memory is read.
        std::int64_t best = std::min(row_with(left, largest, 0), left.rows - 1);
        for (auto i = row_with(left, largest, best + 1); i < left.rows;
             i = row_with(left, largest, i + 1))
            if (order_.position(done + i) < order_.position(done + best)) best = i;
        best += done;
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
    double pivot_ = 1;                  // of the last column
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
