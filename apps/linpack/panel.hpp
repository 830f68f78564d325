// SPDX-License-Identifier: BSD-3-Clause
// One step's panel as every process of a row needs it: the factors, and the row exchanges.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "order.hpp"

namespace linpack {

class Panel {
  public:
    explicit Panel(const Matrix& matrix);
    Panel(Panel&&) = default;
    Panel& operator=(Panel&&) = default;

    /// Prepares it for the columns from `step` * NB on, whose rows are in this order.
    void open(std::int64_t step, const Order& order);

    std::int64_t step() const { return step_; }
    std::int64_t first() const { return step_ * matrix_->nb(); }  ///< its first row and column
    std::int64_t width() const { return width_; }
    int owner() const { return matrix_->column_owner(first()); }  ///< a process column
    bool mine() const { return owner() == matrix_->grid().column(); }
    /// width x width: U11, and below its diagonal the inverse of the unit lower triangle L11.
    /// Updates are products, which take half as long as triangular solutions with so few rows.
    Block top();
    /// This process's rows of L from a local row on, which is at least `sent`: in the matrix if no
    /// other process needs them, else in shared memory.
    Block below(std::int64_t local);
    /// The first local row that travels with the panel. It may be one of `top`'s: which those are,
    /// the pivots tell.
    std::int64_t sent() const { return sent_; }
    /// Row of the matrix that was exchanged with row first() + i, in this order; then the first
    /// column without a pivot, or -1. Doubles, which travel with the panel; exact to 2^53.
    Block pivots();
    std::int64_t pivot(std::int64_t i) const { return static_cast<std::int64_t>(data_[i]); }
    std::int64_t singular() const { return pivot(width_); }
    /// All of it, for a message.
    std::array<Block, 2> all();

    /// After the pivots are known: applies them to the order of rows.
    void exchange_rows(Order& order);
    const Exchange& exchange() const { return exchange_; }

    /// Touches its memory, which the system gives at the first touch.
    void touch();

  private:
    const Matrix* matrix_;
    std::int64_t step_ = 0, width_ = 0, sent_ = 0;
    hocket::Array memory_;
    double* data_;
    Exchange exchange_;
};

/// Factors the columns of `panel`'s step on their process column: with partial pivoting,
/// recursively, exchanging rows within the panel only. Collective over the process column.
void factor(const Matrix& matrix, Panel& panel, Order order,
            const Product& subtract = subtract_product);

/// Makes and sends the persistent messages of a factorization of so many columns: processes agree
/// on each when they first send it. Collective over the process column.
void connect(const Grid& grid, std::int64_t width);

}  // namespace linpack
