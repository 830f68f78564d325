// SPDX-License-Identifier: BSD-3-Clause
// The order that pivots give the rows. In memory, no row leaves its process: a row that becomes
// one of U's comes to the front of its process's rows, and the row there takes its place. So U's
// rows alone travel; those that they displace would be half as many again, all from one process.
// The pivots decide how many rows are left on each process: about as many if the matrix has no
// structure.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix.hpp"

namespace linpack {

/// The effect of a panel's pivots on the rows of one process.
struct Exchange {
    std::vector<std::vector<std::int64_t>> held;  ///< by process row: which of U's rows it has
    std::vector<std::int64_t> pivots;             ///< where those of this process were: local rows
    std::vector<std::int64_t> from, to;           ///< the rows that take their places
    std::int64_t before, after;                   ///< so many local rows were U's, and are then
};

class Order {
  public:
    explicit Order(const Matrix& matrix);

    /// So many of this process's rows are U's, and its first.
    std::int64_t done() const { return done_; }
    /// The process row of the row that is now at a position in the whole matrix.
    int owner(std::int64_t position) const {
        return matrix_->row_owner(standing_[static_cast<std::size_t>(position)]);
    }
    /// The position of a local row.
    std::int64_t position(std::int64_t local) const {
        return positions_[static_cast<std::size_t>(local)];
    }
    /// Those at `position`, the first that is not U's, and at `pivot` change places. If the
    /// pivot's row is on this process, it comes to the front: returns where it was, else -1.
    std::int64_t exchange(std::int64_t position, std::int64_t pivot);
    /// As many exchanges as there are pivots, for rows that have not moved yet.
    Exchange exchange_all(std::int64_t position, const std::vector<std::int64_t>& pivots);

  private:
    std::int64_t& local(std::int64_t row) {
        return locals_[static_cast<std::size_t>(matrix_->local_row(row))];
    }

    const Matrix* matrix_;
    std::int64_t done_ = 0;
    std::vector<std::int64_t> standing_;   // position -> the row there, by its position at first
    std::vector<std::int64_t> positions_;  // local row -> its position
    std::vector<std::int64_t> rows_;       // local row -> its local row at first
    std::vector<std::int64_t> locals_;     // and back
};

}  // namespace linpack
