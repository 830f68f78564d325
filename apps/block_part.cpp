// SPDX-License-Identifier: BSD-3-Clause
#include "block_part.hpp"

#include <algorithm>
#include <cmath>

#include "model.hpp"

namespace apps {
namespace {

using hocket::Array;
using hocket::Halo;

// Points of a band, some tens of microseconds of work: short enough to poll messages between bands.
constexpr std::int64_t points_of_band = 16384;

// The right-hand side at a point of the common grid, without any symmetry.
double source(std::int64_t row, std::int64_t col) {
    return 1.0 + static_cast<double>((3 * row + 5 * col) % 7) / 7.0;
}

bool empty(const Window& window) {
    return window.row >= window.row_end || window.col >= window.col_end;
}

std::vector<Window> without_empty(std::vector<Window> windows) {
    std::erase_if(windows, empty);
    return windows;
}

}  // namespace

BlockPart::BlockPart(const Block& block, const hocket::Comm& comm)
    : block_(block),
      layout_({block.rows, block.cols}, "(BLOCK, BLOCK)", arrangement(comm.size(), block)) {
    const auto zeros = Array::empty(layout_, hocket::dtype_of<double>(), comm);
    std::ranges::fill(zeros.local<double>(), 0.0);
    for (auto& halo : halos_) {
        halo.emplace(zeros, hocket::Shape{1, 1});
        const auto& shape = halo->local_shape();
        std::fill_n(static_cast<double*>(halo->data()), shape[0] * shape[1], 0.0);
    }
    if (!zeros.local<double>().empty()) held_ = layout_.global_indices(zeros.process());
}

Array BlockPart::own(const Edge& edge, std::size_t turn) const {
    return solution(turn).section(edge.slices(block_));
}

Array BlockPart::border(const Edge& edge, std::size_t turn) const {
    Array strip = own(edge, turn);
    if (strip.data() == nullptr) return strip;  // this process has no part of the edge
    const auto step = solution(turn).strides()[edge.across];
    auto* const data = static_cast<std::byte*>(strip.data()) + (edge.upper ? step : -step);
    return Array::wrap(data, strip.layout(), strip.dtype(), strip.comm(), strip.strides(),
                       strip.keep());
}

double BlockPart::sweep(std::size_t turn, const Window& window) const {
    const Halo &from = *halos_[turn], &to = *halos_[1 - turn];
    const std::int64_t across = cols() + 2;
    double most = 0;
    const auto points =
        static_cast<double>((window.row_end - window.row) * (window.col_end - window.col));
    if (apps::modelled(apps::Work::stencil, points)) return most;
    for (auto i = window.row; i < window.row_end; ++i) {
        const double* const u = static_cast<const double*>(from.data()) + (i + 1) * across + 1;
        double* const v = static_cast<double*>(to.data()) + (i + 1) * across + 1;
        const std::int64_t row = block_.row + held_[0][static_cast<std::size_t>(i)];
        for (auto j = window.col; j < window.col_end; ++j) {
            const double f = source(row, block_.col + held_[1][static_cast<std::size_t>(j)]);
            v[j] = 0.25 * (u[j - across] + u[j + across] + u[j - 1] + u[j + 1] + f);
            most = std::max(most, std::abs(v[j] - u[j]));
        }
    }
    return most;
}

std::vector<Window> BlockPart::bands() const {
    const std::int64_t high = std::max<std::int64_t>(1, points_of_band / (cols() + 1));
    std::vector<Window> found;
    for (std::int64_t row = 1; row < rows() - 1; row += high)
        found.push_back({row, std::min(row + high, rows() - 1), 1, cols() - 1});
    return without_empty(std::move(found));
}

std::vector<Window> BlockPart::rim() const {
    const std::int64_t last = rows() - 1, right = cols() - 1;
    return without_empty({{0, std::min<std::int64_t>(1, rows()), 0, cols()},
                          {std::max<std::int64_t>(1, last), rows(), 0, cols()},
                          {1, last, 0, std::min<std::int64_t>(1, cols())},
                          {1, last, std::max<std::int64_t>(1, right), cols()}});
}

std::vector<Window> BlockPart::beyond() const {
    if (rows() == 0) return {};
    return {{-1, 0, -1, cols() + 1},
            {rows(), rows() + 1, -1, cols() + 1},
            {0, rows(), -1, 0},
            {0, rows(), cols(), cols() + 1}};
}

hocket::Region BlockPart::region(std::size_t turn, const Window& window) const {
    const std::int64_t item = sizeof(double), across = cols() + 2;
    const auto* const first = static_cast<const double*>(halos_[turn]->data()) +
                              (window.row + 1) * across + window.col + 1;
    const std::int64_t extents[] = {window.row_end - window.row, window.col_end - window.col};
    const std::int64_t strides[] = {across * item, item};
    return {first, extents, strides, item};
}

}  // namespace apps
