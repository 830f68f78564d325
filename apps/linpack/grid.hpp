// SPDX-License-Identifier: BSD-3-Clause
// The P x Q processes, each a task of its own, and what one sends another: blocks of a matrix.
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

/// What the processes of a column compare to find a pivot: a row's place, and its elements in the
/// few columns that are eliminated together.
struct Candidate {
    static constexpr int columns = 6;
    double elements[columns] = {};
    std::int64_t place = -1;  ///< row of the matrix as it stands; -1: none
};

/// A block of one shape that each process of a column tells all others of it, again and again:
/// persistent requests, which cost flags within a node.
class Sharing {
  public:
    /// Fill it, then exchange().
    const Block& mine() const { return blocks_[me_]; }
    /// Of a process row, its own as well.
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
    int row() const { return row_; }  ///< this process's place
    int column() const { return column_; }
    /// A process's number: as the layout of the transposed matrix has it.
    int process(int row, int column) const { return column * rows_ + row; }

    /// Memory for so many elements that other processes of the node can reach: what goes from there
    /// or comes there is copied by whichever process waits for it, while the other computes.
    hocket::Array room(std::int64_t elements) const;

    /// Blocks as one message to a process of the grid, or from one. What they name must live until
    /// the request is done. Of two messages between the same processes under way, the tags differ.
    hocket::Request send(std::span<const Block> blocks, int process, std::int64_t tag) const;
    hocket::Request receive(std::span<const Block> blocks, int process, std::int64_t tag) const;

    /// Made at the first use of a shape, which all processes of the column come to in the same
    /// order, and kept.
    Sharing& sharing(std::int64_t rows, std::int64_t columns) const;

    /// Of what the processes of my column offer, the one that is largest at `element`, on all of
    /// them.
    Candidate best(const Candidate& mine, int element) const;

  private:
    std::vector<hocket::Array> arrays(std::span<const Block> blocks) const;
    int rows_, columns_, row_, column_;
    mutable hocket::Tasks tasks_;
    hocket::Comm alone_;
    hocket::Team team_;  // my column
    mutable std::map<std::pair<std::int64_t, std::int64_t>, Sharing> sharings_;
};

void wait(std::vector<hocket::Request>& requests);
inline void wait(std::vector<hocket::Request>&& requests) {
    wait(requests);
}

}  // namespace linpack
