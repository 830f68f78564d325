// SPDX-License-Identifier: BSD-3-Clause
// The exchange of rows in some columns, and the update of those columns.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "panel.hpp"

namespace linpack {

/// Some of this process's columns.
struct Columns {
    std::int64_t first, count;
};

/// So few columns are moved together that later work finds their rows in cache, and that the rows
/// of all messages are read from one region of memory.
constexpr std::int64_t together = 4;

/// Rooms for rows have this size at least, in elements: most of all then are of one size.
constexpr std::int64_t usual_room = 1 << 15;

/// The tag of messages within a process column that differ by step and columns.
std::int64_t tag_of(const Matrix& matrix, const Panel& panel, const Columns& columns);

/// This process's columns right of the panel, in parts of at most `width`. The first part has the
/// next panel, if this process column holds it, and nothing else where that pays: always with
/// `ahead`, where a thread can factor it while others update.
std::vector<Columns> right_of(const Matrix& matrix, std::int64_t step, std::int64_t width,
                              bool ahead = false);

/// The exchange of a panel's rows in some columns: every process of the column gets the pivot rows.
class Swap {
  public:
    Swap(const Matrix& matrix, const Panel& panel, Columns columns);

    /// Copies this process's pivot rows, and moves others to their places.
    void gather();
    /// Sends them, and receives those of others.
    std::vector<hocket::Request> start(std::int64_t tag);
    /// Once they have arrived: puts the pivot rows in order.
    void scatter();

    const Columns& columns() const { return columns_; }
    /// The pivot rows, in the panel's order, in separate memory.
    const Block& pivot_rows() const { return pivot_rows_; }

  private:
    // The pivot rows of a process row.
    Block rows_of(int row) const;

    const Matrix* matrix_;
    const Panel* panel_;
    Columns columns_;
    std::vector<hocket::Array> rows_;  // by process row
    hocket::Array memory_;
    Block pivot_rows_;
};

/// The largest part of a product between two polls, which takes 3 ms: BLAS copies both factors in
/// each call, 5 % of its time with half as many columns.
struct Piece {
    std::int64_t rows = 1024, columns = 512;
    std::int64_t least = 1 << 23;  ///< operations that pay for a share of their own
};

/// The work on the columns once their rows have arrived: U is the inverse of L11 times the pivot
/// rows, and A -= L21 U.
void update(const Matrix& matrix, Panel& panel, Swap& swap,
            const Product& subtract = subtract_product);
/// A product one piece after the other, with a call of `between` before each.
Product in_pieces(const Piece& piece, std::function<void()> between);

/// Receives the panel along the process row, from its owner on, each process sending to the next.
/// No process sends to the owner.
hocket::Request receive(const Matrix& matrix, Panel& panel);
std::vector<hocket::Request> pass_on(const Matrix& matrix, Panel& panel);

}  // namespace linpack
