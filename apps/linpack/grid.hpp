// SPDX-License-Identifier: BSD-3-Clause
// The P x Q processes, each a separate task, and their messages: blocks of a matrix.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "blas.hpp"
#include "hocket/task.hpp"
#include "hocket/team.hpp"

namespace linpack {

/// The processes of a column compare candidates to find a pivot: a row's position, and its elements
/// in the few columns that are eliminated together.
struct Candidate {
    static constexpr int columns = 6;
    double elements[columns] = {};
    std::int64_t place = -1;  ///< row of the matrix at present; -1: none
};

/// A block of one shape that each process of a column sends to all others, again and again:
/// persistent requests, which need only flags within a node.
class Sharing {
  public:
    /// Fill it, then exchange().
    const Block& mine() const { return blocks_[me_]; }
    /// The block of a process row, also this one's.
    const Block& of(std::size_t row) const { return blocks_[row]; }
    /// Collective over the column.
    void exchange();

  private:
    friend class Grid;
    std::size_t me_ = 0;
    std::vector<hocket::Array> memory_;
    std::vector<Block> blocks_;
    std::vector<hocket::Request> requests_;
};

class Grid {
  public:
    /// @throws hocket::Error unless there are `rows` times `columns` processes.
    Grid(const hocket::Comm& everyone, int rows, int columns);

    int rows() const { return rows_; }
    int columns() const { return columns_; }
    int row() const { return row_; }  ///< this process's position
    int column() const { return column_; }
    /// A process's number in the layout of the transposed matrix.
    int process(int row, int column) const { return column * rows_ + row; }

    /// Memory for so many elements that other processes of the node can map: a process that waits
    /// for a message copies it from there, or to there, while the other computes.
    hocket::Array room(std::int64_t elements) const;

    /// Sends blocks as one message to a process of the grid, or receives them. Their memory must
    /// live until the request completes. Concurrent messages between two processes need different
    /// tags.
    hocket::Request send(std::span<const Block> blocks, int process, std::int64_t tag) const;
    hocket::Request receive(std::span<const Block> blocks, int process, std::int64_t tag) const;

    /// Made at the first use of a shape, and kept; all processes of the column make the same calls
    /// in the same order.
    Sharing& sharing(std::int64_t rows, std::int64_t columns) const;

    /// Of the candidates of this column's processes, the one with the largest `element`, on all of
    /// them.
    Candidate best(const Candidate& mine, int element) const;

  private:
    std::vector<hocket::Array> arrays(std::span<const Block> blocks) const;
    int rows_, columns_, row_, column_;
    mutable hocket::Tasks tasks_;
    hocket::Comm alone_;
    hocket::Team team_;  // of this column
    mutable std::map<std::pair<std::int64_t, std::int64_t>, Sharing> sharings_;
};

void wait(std::vector<hocket::Request>& requests);
inline void wait(std::vector<hocket::Request>&& requests) {
    wait(requests);
}

}  // namespace linpack
