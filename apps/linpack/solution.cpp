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

}  // namespace

std::vector<double> solve(const Matrix& matrix, const Factored& factored) {
    const Grid& grid = matrix.grid();
    const Block local = matrix.local();
    std::vector<double> x(static_cast<std::size_t>(local.columns));
    // y - U x over the known x; its terms are spread over all processes of a row.
    std::vector<double> rest(static_cast<std::size_t>(local.rows));
    if (matrix.column_owner(matrix.n()) == grid.column())
        std::copy_n(&local.at(0, matrix.local_column(matrix.n())), local.rows, rest.data());
    RowSum& sum = grid.row_sum(matrix.nb());
    Sharing& sharing = grid.sharing(matrix.nb(), 1);
    std::vector<std::vector<std::int64_t>> held;  // by process row: which of a panel's rows it has
    std::int64_t at_row = local.rows;             // the first of this process's rows of the panel
    const auto open = [&](std::int64_t k) {
        const std::int64_t first = k * matrix.nb();
        held.assign(static_cast<std::size_t>(grid.rows()), {});
        for (std::int64_t i = first; i < std::min(first + matrix.nb(), matrix.n()); ++i)
            held[static_cast<std::size_t>(factored.order.owner(i))].push_back(i - first);
        at_row -= std::ssize(held[static_cast<std::size_t>(grid.row())]);
    };
    const auto start = [&](std::int64_t k, std::int64_t end) {
        std::copy(rest.data() + at_row, rest.data() + end, sum.mine().data());
        sum.start(matrix.column_owner(k * matrix.nb()));
    };
    open(matrix.panels() - 1);
    start(matrix.panels() - 1, local.rows);
    for (std::int64_t k = matrix.panels() - 1; k >= 0; --k) {
        const std::int64_t first = k * matrix.nb(), end = at_row,
                           width = std::min(matrix.nb(), matrix.n() - first);
        sum.finish();
        const bool mine = matrix.column_owner(first) == grid.column();
        const std::int64_t at_column = mine ? matrix.local_column(first) : 0;
        const Block part = vector_of(x, at_column, mine ? width : 0);
        if (mine) {
            std::ranges::copy(sum.mine(), sharing.mine().data);
            sharing.exchange();
            for (std::size_t r = 0; r < held.size(); ++r)
                put_rows(sharing.of(r).part(0, 0, std::ssize(held[r]), 1), held[r], part);
            solve_upper(matrix.triangle(k), part);
        }
        const auto subtract = [&](std::int64_t from, std::int64_t to) {
            subtract_product(local.part(from, at_column, to - from, part.rows), part,
                             vector_of(rest, from, to - from));
        };
        if (k == 0) break;
        // Another process waits for the next panel's rows.
        open(k - 1);
        subtract(at_row, end);
        start(k - 1, end);
        subtract(0, at_row);
    }
    return x;
}

double residual(const Matrix& matrix, const Elements& elements, const std::vector<double>& x,
                const hocket::Comm& everyone) {
    const std::int64_t rows = matrix.local().rows;
    // For every row: the elements times x, and their magnitudes.
    RowSum& sum = matrix.grid().row_sum(2 * rows);
    std::ranges::fill(sum.mine(), 0.0);
    const Block both{sum.mine().data(), rows, 2, rows};
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
    sum.start(0);
    sum.finish();
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
