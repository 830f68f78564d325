// SPDX-License-Identifier: BSD-3-Clause
// A panel's factorization. No row leaves its process here: the process with a pivot moves it to the
// front of its own rows, and all processes track the positions of rows. The pivot search is one
// exchange a column, which includes the pivot row's elements in a block of up to
// Grid::search_width() columns; wider parts of pivot rows are exchanged once a level of the
// recursion.
#include <algorithm>
#include <cmath>
#include <numeric>

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
    Factoring(const Matrix& matrix, Panel& panel)
        : matrix_(matrix),
          panel_(panel),
          top_(panel.top()),
          first_local_(matrix.local_row(panel.first())),
          work_(matrix.local().part(first_local_, matrix.local_column(panel.first()),
                                    matrix.local().rows - first_local_, panel.width())),
          rows_(static_cast<std::size_t>(work_.rows)) {
        std::iota(rows_.begin(), rows_.end(), first_local_);
        places_.resize(rows_.size());
        for (std::size_t s = 0; s < rows_.size(); ++s) places_[s] = matrix.row(rows_[s]);
        moved_.resize(rows_.size());
        std::iota(moved_.begin(), moved_.end(), 0);
        standing_.resize(static_cast<std::size_t>(panel.width()));
        std::iota(standing_.begin(), standing_.end(), panel.first());
    }

    void run() { eliminate(0, work_.columns); }

    // Every row returns to its original position.
    void restore() {
        std::vector<std::int64_t> from, to;
        for (std::size_t row = 0; row < moved_.size(); ++row) {
            if (moved_[row] == static_cast<std::int64_t>(row)) continue;
            from.push_back(moved_[row]);
            to.push_back(static_cast<std::int64_t>(row));
        }
        move_rows(work_, from, work_, to);
    }

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
        if (!searched) share_pivot_rows(at, middle, at + count);
        const Block upper = top_.part(at, middle, half, rest);
        solve_lower(top_.part(at, at, half, half), upper);
        std::vector<std::int64_t> solved, slots;
        for (std::int64_t i = at; i < middle; ++i) {
            const std::int64_t slot = slots_[static_cast<std::size_t>(i)];
            if (slot < 0) continue;
            solved.push_back(i - at);
            slots.push_back(slot);
        }
        move_rows(upper, solved, work_.part(0, middle, work_.rows, rest), slots);
        const std::int64_t active = work_.rows - done_;
        subtract_product(work_.part(done_, at, active, half), upper,
                         work_.part(done_, middle, active, rest));
        eliminate(middle, rest);
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
        const std::int64_t active = work_.rows - done_;
        // A search, a division, and for each further column a product and a difference.
        const auto operations = static_cast<double>(active * (2 * (end - j)));
        if (apps::modelled(apps::Work::panel, operations)) return;
        eliminate_with(work_.part(done_, j, active, end - j), row + j);
    }

    // The largest of this process's remaining rows; among equal ones the first.
    void find_candidate(std::int64_t j) {
        search_->place() = -1;
        if (done_ == work_.rows) return;
        std::int64_t best = done_;
        double most = std::fabs(work_.at(best, j));
        for (std::int64_t s = done_ + 1; s < work_.rows; ++s) {
            const double x = std::fabs(work_.at(s, j));
            if (x > most || (x == most && place(s) < place(best))) {
                best = s;
                most = x;
            }
        }
        search_->place() = static_cast<double>(place(best));
        search_->row() = static_cast<double>(matrix_.row(rows_[static_cast<std::size_t>(best)]));
        double* const elements = search_->elements() - begin_;
        for (std::int64_t c = begin_; c < end_; ++c) elements[c] = work_.at(best, c);
    }

    // The winner becomes the panel's row j; the row there takes its position.
    void take_pivot(std::int64_t j) {
        const std::int64_t target = panel_.first() + j,
                           place = static_cast<std::int64_t>(search_->place()),
                           chosen = static_cast<std::int64_t>(search_->row()),
                           displaced = standing(j);
        panel_.pivots().at(j, 0) = static_cast<double>(place);
        if (place < panel_.first() + panel_.width())
            standing_[static_cast<std::size_t>(place - panel_.first())] = displaced;
        standing_[static_cast<std::size_t>(j)] = chosen;
        if (matrix_.row_owner(displaced) == matrix_.grid().row())
            places_[static_cast<std::size_t>(slot_of(displaced))] = place;
        std::int64_t& slot = slots_.emplace_back(-1);
        if (matrix_.row_owner(chosen) != matrix_.grid().row()) return;
        slot = slot_of(chosen);
        places_[static_cast<std::size_t>(slot)] = target;
        exchange_slots(slot, done_);
        slot = done_++;
    }

    void exchange_slots(std::int64_t a, std::int64_t b) {
        if (a == b) return;
        swap_rows(work_, {&a, 1}, {&b, 1});
        std::swap(rows_[static_cast<std::size_t>(a)], rows_[static_cast<std::size_t>(b)]);
        std::swap(places_[static_cast<std::size_t>(a)], places_[static_cast<std::size_t>(b)]);
        for (const auto slot : {a, b})
            moved_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(slot)] - first_local_)] =
                slot;
    }

    // Rows at .. middle of `top_`, columns up to `end`, from the processes that have them.
    void share_pivot_rows(std::int64_t at, std::int64_t middle, std::int64_t end) {
        const Grid& grid = matrix_.grid();
        std::vector<std::vector<std::int64_t>> held(static_cast<std::size_t>(grid.rows()));
        for (std::int64_t i = at; i < middle; ++i)
            held[static_cast<std::size_t>(matrix_.row_owner(standing(i)))].push_back(i);
        // It has memory for all of the level's rows, whichever process has them.
        Sharing& sharing = grid.sharing(middle - at, end - at);
        std::vector<std::int64_t> mine;
        for (const auto i : held[static_cast<std::size_t>(grid.row())])
            mine.push_back(slots_[static_cast<std::size_t>(i)]);
        const auto rows_of = [&](const Block& shared, std::size_t count) {
            return shared.part(0, 0, static_cast<std::int64_t>(count), end - at);
        };
        take_rows(work_.part(0, at, work_.rows, end - at), mine,
                  rows_of(sharing.mine(), mine.size()));
        sharing.exchange();
        for (std::size_t r = 0; r < held.size(); ++r)
            put_rows(rows_of(sharing.of(r), held[r].size()), held[r],
                     top_.part(0, at, top_.rows, end - at));
    }

    std::int64_t place(std::int64_t slot) const { return places_[static_cast<std::size_t>(slot)]; }
    std::int64_t standing(std::int64_t i) const { return standing_[static_cast<std::size_t>(i)]; }
    std::int64_t slot_of(std::int64_t row) const {
        return moved_[static_cast<std::size_t>(matrix_.local_row(row) - first_local_)];
    }

    const Matrix& matrix_;
    Panel& panel_;
    Block top_;
    std::int64_t first_local_;
    Block work_;                        // in the matrix; its rows are in slots
    std::vector<std::int64_t> rows_;    // slot -> its local row
    std::vector<std::int64_t> places_;  // slot -> present position of that row in the matrix
    std::vector<std::int64_t> slots_;   // row of the panel -> slot of its pivot row; -1: elsewhere
    std::int64_t done_ = 0;             // slots before this one hold pivot rows
    std::vector<std::int64_t> standing_;  // row of the panel -> the row there at present
    std::vector<std::int64_t> moved_;     // local row, from the first -> its slot
    PivotSearch* search_ = nullptr;       // about a block of columns:
    std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace

void factor(const Matrix& matrix, Panel& panel) {
    Factoring factoring(matrix, panel);
    factoring.run();
    const Columns columns{matrix.local_column(panel.first()), panel.width()};
    const Block top = matrix.local().part(matrix.local_row(panel.first()), columns.first,
                                          panel.width(), panel.width());
    // If all rows are on one process, they are at their positions; else the panel's own columns
    // exchange rows as all others do.
    if (matrix.grid().rows() == 1) {
        copy(top, panel.top());
    } else {
        factoring.restore();
        panel.find_parcels();
        Swap swap(matrix, panel, columns);
        swap.gather();
        wait(swap.start(rows_tag));
        swap.scatter();
        copy(swap.pivot_rows(), panel.top());
        if (panel.top_owner() == matrix.grid().row()) copy(swap.pivot_rows(), top);
    }
    if (matrix.grid().columns() > 1) {
        const Block below = panel.below();
        const std::int64_t skipped = matrix.local().rows - below.rows;
        copy(matrix.local().part(skipped, columns.first, below.rows, below.columns), below);
    }
    invert_lower(panel.top());
}

}  // namespace linpack
