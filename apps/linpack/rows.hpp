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

    /// Copies the rows that leave their place: from here on the columns may change.
    void gather();
    /// Sends and receives them.
    std::vector<hocket::Request> start(std::int64_t tag);
    /// Once they are here: `upper` gets the pivot rows, the matrix the displaced ones.
    void scatter(const Block& upper);
    /// Puts the upper rows into the matrix, where this process holds that part.
    void put(const Block& upper) const;

    const Columns& columns() const { return columns_; }

  private:
    Block block(const hocket::Array& memory, const Parcel& parcel) const;

    const Matrix* matrix_;
    const Panel* panel_;
    Columns columns_;
    std::vector<hocket::Array> out_, in_;  // by process row; what stays here is out and in
};

/// What is left to do with the columns once their rows are here: U = inverse(L11) U, A -= L21 U.
/// `between`, where it is given, is called every millisecond or so.
void update(const Matrix& matrix, Panel& panel, Swap& swap,
            const std::function<void()>& between = {});

/// The panel on its way along the process row, from its owner on, each sending to the next. Nothing
/// is sent where the next one is the owner.
hocket::Request receive(const Matrix& matrix, Panel& panel);
std::vector<hocket::Request> pass_on(const Matrix& matrix, Panel& panel);

}  // namespace linpack
