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

namespace linpack {

/// The search for a pivot among a column's processes: each has a candidate, a row of the matrix,
/// and all get the winner. They compare two by two, in as many exchanges as their number has binary
/// digits, with persistent requests: each takes hardly longer than a message.
class PivotSearch {
  public:
    /// The row's present position; -1: there is none. A double, which travels with the elements;
    /// exact to 2^53.
    double& place() { return out_[0]; }
    double* elements() { return out_ + head; }
    /// Collective over the column: the winner has the largest `element`, or is the first of those.
    void decide(std::int64_t element);

  private:
    friend class Grid;
    static constexpr std::int64_t head = 1;
    struct Round {
        int other;  ///< a process row
        bool receives;
        bool decided;  ///< by others, so that the row that comes is the winner
        std::vector<hocket::Request> requests = {};
    };
    std::vector<hocket::Array> memory_;
    double *out_ = nullptr, *in_ = nullptr;
    std::int64_t count_ = 0;
    int me_ = 0;
    std::vector<Round> rounds_;
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

/// Sums of numbers of all processes of a row on one of them, again and again: persistent requests.
class RowSum {
  public:
    std::span<double> mine() const { return mine_; }
    /// Collective over the row: the process in `column` will have the sums.
    void start(int column);
    /// There, adds the others' numbers to mine(). Then mine() can be written again.
    void finish();

  private:
    friend class Grid;
    struct Other {
        hocket::Array memory;  ///< of its numbers
        hocket::Request send, receive;
    };
    std::vector<hocket::Array> memory_;  // of its own numbers
    std::span<double> mine_;
    std::map<int, Other> others_;  // by process column
    int column_ = 0, me_ = 0;
};

class Grid {
  public:
    /// `search_width`: in a pivot search, candidates have elements of so many columns at most.
    /// @throws hocket::Error unless there are `rows` times `columns` processes.
    Grid(const hocket::Comm& everyone, int rows, int columns, std::int64_t search_width);

    int rows() const { return rows_; }
    int columns() const { return columns_; }
    int row() const { return row_; }  ///< this process's position
    int column() const { return column_; }
    /// A process's number in the layout of the transposed matrix.
    int process(int row, int column) const { return column * rows_ + row; }
    /// Whether all are on one node, so that a message is a copy. Never in a simulation.
    bool shares_memory() const { return shares_memory_; }

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

    /// As `sharing`, over the row.
    RowSum& row_sum(std::int64_t count) const;

    /// As `sharing`; candidates have so many elements.
    PivotSearch& pivot_search(std::int64_t elements) const;
    std::int64_t search_width() const { return search_width_; }

  private:
    std::vector<hocket::Array> arrays(std::span<const Block> blocks) const;
    hocket::Array start_of(const hocket::Array& room, std::int64_t count) const;
    int rows_, columns_, row_, column_;
    bool shares_memory_;
    mutable hocket::Tasks tasks_;
    hocket::Comm alone_;
    std::int64_t search_width_;
    mutable std::map<std::pair<std::int64_t, std::int64_t>, Sharing> sharings_;
    mutable std::map<std::int64_t, RowSum> row_sums_;
    mutable std::map<std::int64_t, PivotSearch> searches_;
};

void wait(std::vector<hocket::Request>& requests);
inline void wait(std::vector<hocket::Request>&& requests) {
    wait(requests);
}

}  // namespace linpack
