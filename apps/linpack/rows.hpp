// SPDX-License-Identifier: BSD-3-Clause
// Rows that change places in some columns, and the update of those columns.
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

/// So few columns are done together that what follows finds their rows in cache, and that the
/// rows of all messages are read from one place of the memory.
constexpr std::int64_t together = 4;

/// Tags of messages within a process column, and of those that differ by step and columns.
constexpr std::int64_t rows_tag = 0;
std::int64_t tag_of(const Matrix& matrix, const Panel& panel, const Columns& columns);

/// This process's columns right of the panel, in parts of at most `width`. The first part is the
/// next panel, where this process column holds it.
std::vector<Columns> right_of(const Matrix& matrix, std::int64_t step, std::int64_t width);

/// The exchange of a panel's rows in some columns: every process of the column gets the pivot rows,
/// and the rows that stood there go where those were.
class Swap {
  public:
    Swap(const Matrix& matrix, const Panel& panel, Columns columns);

    /// Copies the rows that go to other processes, and moves those that stay on this one.
    void gather();
    /// Sends and receives the others.
    std::vector<hocket::Request> start(std::int64_t tag);
    /// Once they are here: puts them where they belong.
    void scatter();

    const Columns& columns() const { return columns_; }
    /// The pivot rows, in the panel's order: in memory of their own.
    const Block& pivot_rows() const { return pivot_rows_; }

  private:
    Block block(const hocket::Array& memory, const Parcel& parcel) const;
    // Of a parcel, the columns from `first` on.
    void put(const Parcel& parcel, const Block& from, std::int64_t first) const;
    // This process's rows of some of the columns.
    Block local(std::int64_t first, std::int64_t count) const;

    const Matrix* matrix_;
    const Panel* panel_;
    Columns columns_;
    std::vector<hocket::Array> out_, in_;  // by process row
    hocket::Array memory_;
    Block pivot_rows_;
};

/// At most so much of a product that gives way at a time, which takes 3 ms: BLAS copies both
/// factors once a call, 5 % of its time with half as many columns.
struct Piece {
    std::int64_t rows = 1024, columns = 512;
};

/// What is left to do with the columns once their rows are here: U is the inverse of L11 times the
/// pivot rows, and A -= L21 U.
/// `between`, where it is given, is called after each piece.
void update(const Matrix& matrix, Panel& panel, Swap& swap,
            const std::function<void()>& between = {}, const Piece& piece = {});

/// The panel on its way along the process row, from its owner on, each sending to the next. Nothing
/// is sent where the next one is the owner.
hocket::Request receive(const Matrix& matrix, Panel& panel);
std::vector<hocket::Request> pass_on(const Matrix& matrix, Panel& panel);

}  // namespace linpack
