// SPDX-License-Identifier: BSD-3-Clause
#include "solution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "../program.hpp"
#include "rows.hpp"

namespace linpack {
namespace {

Block vector_of(std::vector<double>& values, std::int64_t from, std::int64_t count) {
    return {values.data() + from, count, 1, count};
}

// Adds the parts of `mine` on all processes of this row to that of the process in `column`.
void add_along_row(const Grid& grid, const Block& mine, int column) {
    const Block blocks[] = {mine};
    if (grid.column() != column) {
        grid.send(blocks, grid.process(grid.row(), column), rows_tag).wait();
        return;
    }
    std::vector<double> memory(static_cast<std::size_t>(mine.rows * mine.columns));
    for (int q = 0; q < grid.columns(); ++q) {
        if (q == column) continue;
        const Block part[] = {{memory.data(), mine.rows, mine.columns, mine.rows}};
        grid.receive(part, grid.process(grid.row(), q), rows_tag).wait();
        for (std::int64_t j = 0; j < mine.columns; ++j)
            for (std::int64_t i = 0; i < mine.rows; ++i) mine.at(i, j) += part[0].at(i, j);
    }
}

}  // namespace

std::vector<double> solve(const Matrix& matrix, const Factored& factored) {
    const Grid& grid = matrix.grid();
    const Block local = matrix.local();
    std::vector<double> x(static_cast<std::size_t>(local.columns));
    // y - U x over the known x; its terms are spread over all processes of a row.
    std::vector<double> rest(static_cast<std::size_t>(local.rows));
    if (matrix.column_owner(matrix.n()) == grid.column())
        std::copy_n(&local.at(0, matrix.local_column(matrix.n())), local.rows, rest.data());
    std::int64_t at_row = local.rows;
    for (std::int64_t k = matrix.panels() - 1; k >= 0; --k) {
        const std::int64_t first = k * matrix.nb(),
                           width = std::min(matrix.nb(), matrix.n() - first);
        std::vector<std::vector<std::int64_t>> held(static_cast<std::size_t>(grid.rows()));
        for (std::int64_t i = 0; i < width; ++i)
            held[static_cast<std::size_t>(factored.order.owner(first + i))].push_back(i);
        const auto mine =
            static_cast<std::int64_t>(held[static_cast<std::size_t>(grid.row())].size());
        at_row -= mine;
        const int column = matrix.column_owner(first);
        if (mine > 0) add_along_row(grid, vector_of(rest, at_row, mine), column);
        if (column != grid.column()) continue;
        const std::int64_t at_column = matrix.local_column(first);
        const Block part = vector_of(x, at_column, width);
        Sharing& sharing = grid.sharing(matrix.nb(), 1);
        std::copy_n(rest.data() + at_row, mine, sharing.mine().data);
        sharing.exchange();
        for (std::size_t r = 0; r < held.size(); ++r)
            put_rows(sharing.of(r).part(0, 0, static_cast<std::int64_t>(held[r].size()), 1),
                     held[r], part);
        solve_upper(matrix.triangle(k), part);
        subtract_product(local.part(0, at_column, at_row, width), part, vector_of(rest, 0, at_row));
    }
    return x;
}

double residual(const Matrix& matrix, const Elements& elements, const std::vector<double>& x,
                const hocket::Comm& everyone) {
    const std::int64_t rows = matrix.local().rows;
    // For every row: the elements times x, and their magnitudes.
    std::vector<double> sums(static_cast<std::size_t>(2 * rows));
    const Block both{sums.data(), rows, 2, rows};
    double largest_x = 0, strange = 0;
    for (std::int64_t j = 0; j < matrix.local().columns; ++j) {
        if (matrix.column(j) == matrix.n()) continue;
        const double factor = x[static_cast<std::size_t>(j)];
        if (!std::isfinite(factor)) strange = 1;
        largest_x = std::max(largest_x, std::fabs(factor));
        for (std::int64_t i = 0; i < rows; ++i) {
            const double element = elements(matrix.row(i), matrix.column(j));
            both.at(i, 0) += element * factor;
            both.at(i, 1) += std::fabs(element);
        }
    }
    add_along_row(matrix.grid(), both, 0);
    double wrong = 0, norm = 0, largest_b = 0;
    for (std::int64_t i = 0; i < rows && matrix.grid().column() == 0; ++i) {
        const double b = elements(matrix.row(i), matrix.n());
        wrong = std::max(wrong, std::fabs(both.at(i, 0) - b));
        norm = std::max(norm, both.at(i, 1));
        largest_b = std::max(largest_b, std::fabs(b));
        if (!std::isfinite(both.at(i, 0))) strange = 1;
    }
    const std::array<double, 5> mine = {wrong, norm, largest_x, largest_b, strange};
    const auto most = apps::maximum(everyone, mine);
    if (most[4] > 0) return std::numeric_limits<double>::infinity();
    const double epsilon = std::numeric_limits<double>::epsilon() / 2;
    return most[0] / (epsilon * (most[1] * most[2] + most[3]) * static_cast<double>(matrix.n()));
}

}  // namespace linpack
