// SPDX-License-Identifier: BSD-3-Clause
// Rows of a matrix by number, in any order: taken out, put in, exchanged.
#pragma once

#include <cstdint>
#include <span>

#include "hocket/error.hpp"

namespace hocket::kernel {

/// How a matrix lies in memory: element (i, j) is i * row_stride + j * column_stride bytes on from
/// element (0, 0). Column-major, as BLAS has it: row_stride is the size of an element, and
/// column_stride that of a leading dimension of them. Strides may be negative.
struct MatrixForm {
    std::int64_t rows, columns;
    std::int64_t row_stride, column_stride;  ///< in bytes
};

/// Row i of the destination becomes row rows[i] of the source, as numpy.take(source, rows, axis=0).
/// Elements have `itemsize` bytes. Numbers count from 0 and may come several times; the two
/// matrices must not overlap. No memory is used besides, and one thread: what calls this, as
/// LINPACK's exchange of rows does, has columns for the others.
/// @throws MismatchError unless the destination has as many rows as the list and as many columns as
///         the source; Error if there is no such row, or for a negative extent or itemsize < 1. The
///         first element moves after that.
void take_rows(const void* source, const MatrixForm& from, std::span<const std::int64_t> rows,
               std::int64_t itemsize, void* destination, const MatrixForm& to);

/// Row rows[i] of the destination becomes row i of the source, as destination[rows] = source; where
/// a number comes several times, the last of its rows stays. @throws as take_rows, of the source's
/// rows.
void put_rows(const void* source, const MatrixForm& from, std::span<const std::int64_t> rows,
              std::int64_t itemsize, void* destination, const MatrixForm& to);

/// Rows first[i] and second[i] of one matrix change places, for i = 0, 1, … one after the other, as
/// LAPACK's laswp. @throws MismatchError unless the lists are equally long; Error as take_rows.
void swap_rows(void* matrix, const MatrixForm& form, std::span<const std::int64_t> first,
               std::span<const std::int64_t> second, std::int64_t itemsize);

}  // namespace hocket::kernel
