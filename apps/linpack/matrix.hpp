// SPDX-License-Identifier: BSD-3-Clause
// [A | b], N x (N+1), block-cyclic over the grid. The array is the transpose, so that a local
// column is contiguous: BLAS uses columns, and a block of columns is one run of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grid.hpp"
#include "hocket/array.hpp"

namespace linpack {

/// The values of elements, whatever the grid is.
struct Elements {
    std::uint64_t seed;
    bool singular;  ///< the column in the middle is 0
    std::int64_t n;
    /// If not 0: so many rows are a millionth of the next ones, in turns, so that pivots come from
    /// every other block of rows first.
    std::int64_t steps = 0;

    /// In [-1/2, 1/2), as HPL's; `j` == n: the right-hand side.
    double operator()(std::int64_t i, std::int64_t j) const;
};

class Matrix {
  public:
    /// Blocks are not larger than the matrix, whatever `nb` is.
    Matrix(const Grid& grid, const hocket::Comm& everyone, std::int64_t n, std::int64_t nb);

    const Grid& grid() const { return *grid_; }
    std::int64_t n() const { return n_; }
    std::int64_t nb() const { return nb_; }
    std::int64_t panels() const { return (n_ + nb_ - 1) / nb_; }
    /// The process row that holds a row; the process column that holds a column.
    int row_owner(std::int64_t row) const { return static_cast<int>(row / nb_ % grid_->rows()); }
    int column_owner(std::int64_t column) const {
        return static_cast<int>(column / nb_ % grid_->columns());
    }
    /// The number of rows (columns) before this one on this process: its local number, if the
    /// process holds it.
    std::int64_t local_row(std::int64_t row) const;
    std::int64_t local_column(std::int64_t column) const;
    std::int64_t row(std::int64_t local) const { return rows_[static_cast<std::size_t>(local)]; }
    std::int64_t column(std::int64_t local) const {
        return columns_[static_cast<std::size_t>(local)];
    }
    /// This process's part.
    const Block& local() const { return local_; }
    /// Memory for the part of U in a panel's rows and columns, on each process of its column: in
    /// the matrix, a process has only some of the rows.
    Block triangle(std::int64_t step) const {
        const std::int64_t first = step * nb_, width = std::min(nb_, n_ - first);
        return {triangles_.get() + local_column(first) * nb_, width, width, width};
    }

    void fill(const Elements& elements) const;

  private:
    const Grid* grid_;
    std::int64_t n_, nb_;
    hocket::Array array_;
    std::vector<std::int64_t> rows_, columns_;
    Block local_;
    std::unique_ptr<double[]> triangles_;
};

}  // namespace linpack
