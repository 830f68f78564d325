// SPDX-License-Identifier: BSD-3-Clause
// One step's panel as every process of a row needs it: the factors, and the row exchanges.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "matrix.hpp"

namespace linpack {

/// The rows of one message of a row exchange.
struct Parcel {
    std::vector<std::int64_t> pivots;     ///< rows of the panel, 0 <= i < width
    std::vector<std::int64_t> displaced;  ///< local rows of the receiver, which other rows replace
    std::vector<std::int64_t> gathered;   ///< local rows of the sender, for both lists
    std::int64_t rows() const {
        return static_cast<std::int64_t>(pivots.size() + displaced.size());
    }
};

class Panel {
  public:
    explicit Panel(const Matrix& matrix);
    Panel(Panel&&) = default;
    Panel& operator=(Panel&&) = default;

    /// Prepares it for the columns from `step` * NB on.
    void open(std::int64_t step);

    std::int64_t step() const { return step_; }
    std::int64_t first() const { return step_ * matrix_->nb(); }  ///< its first row and column
    std::int64_t width() const { return width_; }
    int owner() const { return matrix_->column_owner(first()); }   ///< a process column
    int top_owner() const { return matrix_->row_owner(first()); }  ///< a process row
    /// width x width, below its diagonal: the inverse of the unit lower triangle L11. Updates are
    /// products, which take half as long as triangular solutions with so few rows.
    Block top();
    /// This process's rows of L below them: in the matrix if no other process needs them, else in
    /// shared memory.
    Block below();
    /// Row of the matrix that was exchanged with row first() + i, in this order; then the first
    /// column without a pivot, or -1. Doubles, which travel with the panel; exact to 2^53.
    Block pivots();
    std::int64_t pivot(std::int64_t i) const { return static_cast<std::int64_t>(data_[i]); }
    std::int64_t singular() const { return pivot(width_); }
    /// All of it, for a message.
    std::array<Block, 2> all();

    /// After the pivots are known: computes the parcels of the row exchange.
    void find_parcels();
    /// From this process row to `row`, and back.
    const Parcel& out(int row) const { return out_[static_cast<std::size_t>(row)]; }
    const Parcel& in(int row) const { return in_[static_cast<std::size_t>(row)]; }

    /// Touches its memory, which the system gives at the first touch.
    void touch();

  private:
    const Matrix* matrix_;
    std::int64_t step_ = 0, width_ = 0;
    hocket::Array memory_;
    double* data_;
    std::vector<Parcel> out_, in_;
};

/// Factors the columns of `panel`'s step on their process column: with partial pivoting,
/// recursively, exchanging rows within the panel only. Collective over the process column.
void factor(const Matrix& matrix, Panel& panel);

}  // namespace linpack
