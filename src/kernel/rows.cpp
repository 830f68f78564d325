// SPDX-License-Identifier: BSD-3-Clause
// Moves distant rows: each element is on its own cache line, which no hardware prefetcher predicts.
// The list of rows does, so the kernel prefetches the lines of the next column while it moves one.
// It does so beyond the last column, too, because callers that move a few columns at a time
// continue there.
//
// No vectors: AVX-512's gather took 0.4 to 1.0 ns an element in the first-level cache, where this
// code takes 0.5 to 0.7, and the same 3 to 12 ns beyond it, where LINPACK's columns are (measured).
// Contiguous rows are copied as runs.
#include "hocket/rows.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "kernel/swap.hpp"

namespace hocket::kernel {
namespace {

using RowList = std::span<const std::int64_t>;

enum class Listed { source, destination };

// The sides of a move: one with listed rows, and one with consecutive rows.
template <Listed side>
struct SourceAndDestination {
    static constexpr bool take = side == Listed::source;
    using Irregular = std::conditional_t<take, const std::byte*, std::byte*>;
    using Regular = std::conditional_t<take, std::byte*, const std::byte*>;

    static void move(Irregular listed, Regular other, std::size_t bytes) {
        if constexpr (take)
            std::memcpy(other, listed, bytes);
        else
            std::memcpy(listed, other, bytes);
    }
};

// `size`: of an element, if the compiler knows it, else 0. `dense`: the elements of a column are
// contiguous on both sides.
template <Listed side, std::int64_t size, bool dense>
void move_columns(typename SourceAndDestination<side>::Irregular listed, const MatrixForm& there,
                  typename SourceAndDestination<side>::Regular other, const MatrixForm& here,
                  RowList rows, std::int64_t itemsize) {
    const std::int64_t bytes = size > 0 ? size : itemsize;
    const std::int64_t jump = dense ? bytes : there.row_stride;
    const std::int64_t step = dense ? bytes : here.row_stride;
    // Local copies, because the compiler must assume that the written memory contains these
    // members.
    const std::int64_t columns = there.columns, next = there.column_stride,
                       next_other = here.column_stride;
    for (std::int64_t j = 0; j < columns; ++j) {
        auto at = other;
        for (const std::int64_t row : rows) {
            const auto element = listed + row * jump;
            __builtin_prefetch(element + next, !SourceAndDestination<side>::take);
            SourceAndDestination<side>::move(element, at, static_cast<std::size_t>(bytes));
            at += step;
        }
        listed += next;
        other += next_other;
    }
}

// Whole rows, each one run.
template <Listed side>
void move_runs(typename SourceAndDestination<side>::Irregular listed, std::int64_t jump,
               typename SourceAndDestination<side>::Regular other, std::int64_t step, RowList rows,
               std::int64_t bytes) {
    constexpr std::size_t ahead = 4;  // the hardware prefetches the later lines of a run
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i + ahead < rows.size())
            __builtin_prefetch(listed + rows[i + ahead] * jump, !SourceAndDestination<side>::take);
        SourceAndDestination<side>::move(listed + rows[i] * jump, other,
                                         static_cast<std::size_t>(bytes));
        other += step;
    }
}

// Calls `function` with the size of an element as a compile-time constant, for common sizes.
template <class Function>
void with_size_of(std::int64_t itemsize, const Function& function) {
    switch (itemsize) {
        case 1:
            return function(std::integral_constant<std::int64_t, 1>{});
        case 2:
            return function(std::integral_constant<std::int64_t, 2>{});
        case 4:
            return function(std::integral_constant<std::int64_t, 4>{});
        case 8:
            return function(std::integral_constant<std::int64_t, 8>{});
        case 16:
            return function(std::integral_constant<std::int64_t, 16>{});
        default:
            return function(std::integral_constant<std::int64_t, 0>{});
    }
}

template <Listed side>
void move_rows(typename SourceAndDestination<side>::Irregular listed, const MatrixForm& there,
               typename SourceAndDestination<side>::Regular other, const MatrixForm& here,
               RowList rows, std::int64_t itemsize) {
    if (there.columns == 0) return;
    if (there.column_stride == itemsize && here.column_stride == itemsize)
        return move_runs<side>(listed, there.row_stride, other, here.row_stride, rows,
                               itemsize * there.columns);
    const bool dense = there.row_stride == itemsize && here.row_stride == itemsize;
    with_size_of(itemsize, [&](auto size) {
        if (dense)
            move_columns<side, size, true>(listed, there, other, here, rows, itemsize);
        else
            move_columns<side, size, false>(listed, there, other, here, rows, itemsize);
    });
}

template <std::int64_t size>
void swap_columns(std::byte* matrix, const MatrixForm& form, RowList first, RowList second,
                  std::int64_t itemsize) {
    const auto [rows, columns, jump, next] = form;
    for (std::int64_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < first.size(); ++i) {
            std::byte* const a = matrix + first[i] * jump;
            std::byte* const b = matrix + second[i] * jump;
            __builtin_prefetch(a + next, 1);
            __builtin_prefetch(b + next, 1);
            if constexpr (size > 0) {
                std::array<std::byte, size> held_a, held_b;
                std::memcpy(held_a.data(), a, size);
                std::memcpy(held_b.data(), b, size);
                std::memcpy(a, held_b.data(), size);
                std::memcpy(b, held_a.data(), size);
            } else if (a != b) {
                swap(a, b, {itemsize, itemsize}, 0, itemsize);
            }
        }
        matrix += next;
    }
}

std::string extents_of(std::int64_t rows, std::int64_t columns) {
    return std::to_string(rows) + " rows of " + std::to_string(columns) + " columns";
}

void check_form(const MatrixForm& form, const char* which, std::int64_t itemsize) {
    if (itemsize < 1) throw Error("elements have at least 1 byte, not " + std::to_string(itemsize));
    if (form.rows < 0 || form.columns < 0)
        throw Error(std::string("the ") + which + " has " + extents_of(form.rows, form.columns) +
                    "; give 0 or more of both");
}

void check_list(RowList rows, const MatrixForm& form, const char* which) {
    // Without branches, because there may be few columns: the sign of a number, or of its distance
    // from the last row.
    const auto last = static_cast<std::uint64_t>(form.rows) - 1;
    std::uint64_t signs = 0;
    for (const std::int64_t row : rows)
        signs |= static_cast<std::uint64_t>(row) | (last - static_cast<std::uint64_t>(row));
    if (static_cast<std::int64_t>(signs) >= 0) return;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (static_cast<std::uint64_t>(rows[i]) >= static_cast<std::uint64_t>(form.rows))
            throw Error("entry " + std::to_string(i) + " of the list is row " +
                        std::to_string(rows[i]) + ", but the " + which + " has " +
                        std::to_string(form.rows) + " rows, counted from 0; name one of them");
}

void check_move(const MatrixForm& there, const char* listed, const MatrixForm& here,
                const char* other, RowList rows, std::int64_t itemsize) {
    check_form(there, listed, itemsize);
    check_form(here, other, itemsize);
    const auto count = static_cast<std::int64_t>(rows.size());
    if (here.rows != count || here.columns != there.columns)
        throw MismatchError("the list names " + extents_of(count, there.columns) + " of the " +
                            listed + ", but the " + other + " has " +
                            extents_of(here.rows, here.columns) + "; give it as many of both");
    check_list(rows, there, listed);
}

}  // namespace

void take_rows(const void* source, const MatrixForm& from, std::span<const std::int64_t> rows,
               std::int64_t itemsize, void* destination, const MatrixForm& to) {
    check_move(from, "source", to, "destination", rows, itemsize);
    move_rows<Listed::source>(static_cast<const std::byte*>(source), from,
                              static_cast<std::byte*>(destination), to, rows, itemsize);
}

void put_rows(const void* source, const MatrixForm& from, std::span<const std::int64_t> rows,
              std::int64_t itemsize, void* destination, const MatrixForm& to) {
    check_move(to, "destination", from, "source", rows, itemsize);
    move_rows<Listed::destination>(static_cast<std::byte*>(destination), to,
                                   static_cast<const std::byte*>(source), from, rows, itemsize);
}

void swap_rows(void* matrix, const MatrixForm& form, std::span<const std::int64_t> first,
               std::span<const std::int64_t> second, std::int64_t itemsize) {
    check_form(form, "matrix", itemsize);
    if (first.size() != second.size())
        throw MismatchError("the first list names " + std::to_string(first.size()) +
                            " rows, the second " + std::to_string(second.size()) +
                            "; rows change places in pairs, so give equally many");
    check_list(first, form, "matrix");
    check_list(second, form, "matrix");
    if (form.columns == 0) return;
    MatrixForm moved = form;
    if (form.column_stride == itemsize) {  // a row is one run
        itemsize *= form.columns;
        moved.columns = 1;
    }
    with_size_of(itemsize, [&](auto size) {
        swap_columns<size>(static_cast<std::byte*>(matrix), moved, first, second, itemsize);
    });
}

}  // namespace hocket::kernel
