// SPDX-License-Identifier: BSD-3-Clause
// Rows of a matrix by number, in any order: gather, scatter and swap.
#pragma once

#include <cstdint>
#include <span>

#include "hocket/error.hpp"

namespace hocket::kernel {

/// The memory layout of a matrix: element (i, j) is i * row_stride + j * column_stride bytes after
/// element (0, 0). For a column-major matrix, as in BLAS, row_stride is the size of an element, and
/// column_stride is the leading dimension times that size. Strides may be negative.
struct MatrixForm {
    std::int64_t rows, columns;
    std::int64_t row_stride, column_stride;  ///< in bytes
};

/// Copies row rows[i] of the source to row i of the destination, as numpy.take(source, rows,
/// axis=0). Elements have `itemsize` bytes. Row numbers count from 0 and may repeat. The matrices
/// must not overlap. Uses one thread and no further memory, because callers such as LINPACK's row
/// exchange give other columns to other threads.
/// @throws MismatchError unless the destination has as many rows as the list and as many columns as
///         the source; Error for an unknown row, a negative extent, or itemsize < 1. No element has
///         moved then.
void take_rows(const void* source, const MatrixForm& from, std::span<const std::int64_t> rows,
               std::int64_t itemsize, void* destination, const MatrixForm& to);

/// Copies row i of the source to row rows[i] of the destination, as destination[rows] = source. If
/// a number repeats, the last of its rows remains. @throws as take_rows; here the source has as
/// many rows as the list.
void put_rows(const void* source, const MatrixForm& from, std::span<const std::int64_t> rows,
              std::int64_t itemsize, void* destination, const MatrixForm& to);

/// Swaps rows first[i] and second[i] of one matrix, for i = 0, 1, … one after the other, as
/// LAPACK's laswp. @throws MismatchError unless the lists are equally long; Error as take_rows.
void swap_rows(void* matrix, const MatrixForm& form, std::span<const std::int64_t> first,
               std::span<const std::int64_t> second, std::int64_t itemsize);

}  // namespace hocket::kernel
