// SPDX-License-Identifier: BSD-3-Clause
#include "panel.hpp"

#include <algorithm>

namespace linpack {
namespace {

// In whole cache lines, so that the following data begins with one.
std::int64_t room_of_pivots(std::int64_t width) {
    return (width + 1 + 7) / 8 * 8;
}

// Elements of the pivots and the top rows.
std::int64_t head(std::int64_t width) {
    return room_of_pivots(width) + width * width;
}

std::int64_t room_for(const Matrix& matrix) {
    const std::int64_t width = matrix.nb();
    return head(width) + (matrix.grid().columns() > 1 ? matrix.local().rows * width : 0);
}

}  // namespace

Panel::Panel(const Matrix& matrix)
    : matrix_(&matrix),
      memory_(matrix.grid().room(room_for(matrix))),
      data_(static_cast<double*>(memory_.data())) {}

void Panel::open(std::int64_t step, const Order& order) {
    step_ = step;
    width_ = std::min(matrix_->nb(), matrix_->n() - first());
    // If all rows are on one process, so are the top ones.
    sent_ = order.done() + (matrix_->grid().rows() == 1 ? width_ : 0);
    std::fill(data_ + width_, data_ + room_of_pivots(width_), -1.0);
}

void Panel::touch() {
    std::fill_n(data_, room_for(*matrix_), 0.0);
}

Block Panel::pivots() {
    return {data_, width_ + 1, 1, width_ + 1};
}

Block Panel::top() {
    return {data_ + room_of_pivots(width_), width_, width_, width_};
}

Block Panel::below(std::int64_t local) {
    const std::int64_t end = matrix_->local().rows, rows = end - sent_;
    const Block all =
        matrix_->grid().columns() == 1
            ? matrix_->local().part(sent_, matrix_->local_column(first()), rows, width_)
            : Block{data_ + head(width_), rows, width_, rows};
    return all.part(local - sent_, 0, end - local, width_);
}

std::array<Block, 2> Panel::all() {
    return {Block{data_, head(width_), 1, head(width_)}, below(sent_)};
}

void Panel::exchange_rows(Order& order) {
    std::vector<std::int64_t> pivots;
    for (std::int64_t i = 0; i < width_; ++i) pivots.push_back(pivot(i));
    exchange_ = order.exchange_all(first(), pivots);
}

}  // namespace linpack
