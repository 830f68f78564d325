// SPDX-License-Identifier: BSD-3-Clause
// The BLAS calls of LINPACK, on blocks of columns. Each runs in the calling thread: a flow's
// workers, not BLAS's threads, use the cores.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace linpack {

/// A matrix in memory, column by column: element (i, j) is data[i + j * stride].
struct Block {
    double* data;
    std::int64_t rows, columns, stride;

    double& at(std::int64_t i, std::int64_t j) const { return data[i + j * stride]; }
    /// `count_rows` x `count_columns` from (i, j) on.
    Block part(std::int64_t i, std::int64_t j, std::int64_t count_rows,
               std::int64_t count_columns) const {
        return {data + i + j * stride, count_rows, count_columns, stride};
    }
};

/// Copies between disjoint blocks of one shape.
void copy(const Block& from, const Block& to);

/// Rows of a block by number: row i of `to` becomes row rows[i] of `from`; row rows[i] of `to`
/// becomes row i of `from`; rows first[i] and second[i] are swapped, one pair after the other.
using Rows = std::span<const std::int64_t>;
void take_rows(const Block& from, Rows rows, const Block& to);
void put_rows(const Block& from, Rows rows, const Block& to);
void swap_rows(const Block& block, Rows first, Rows second);

/// Limits BLAS to one thread, if it has a function for that.
void use_one_thread();

/// b = l b, l lower triangular with ones on its diagonal, as in all of these.
void multiply_lower(const Block& l, const Block& b);
/// c -= a b
void subtract_product(const Block& a, const Block& b, const Block& c);
/// The same in parts, or in several threads.
using Product = std::function<void(const Block& a, const Block& b, const Block& c)>;
/// b = inverse(l) b
void solve_lower(const Block& l, const Block& b);
/// b = inverse(u) b, u upper triangular.
void solve_upper(const Block& u, const Block& b);

}  // namespace linpack
