// SPDX-License-Identifier: BSD-3-Clause
#include "panel.hpp"

#include <algorithm>
#include <vector>

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
    const std::int64_t width = std::min(matrix.nb(), matrix.n());
    return head(width) + (matrix.grid().columns() > 1 ? matrix.local().rows * width : 0);
}

}  // namespace

Panel::Panel(const Matrix& matrix)
    : matrix_(&matrix),
      memory_(matrix.grid().room(room_for(matrix))),
      data_(static_cast<double*>(memory_.data())) {}

void Panel::open(std::int64_t step) {
    step_ = step;
    width_ = std::min(matrix_->nb(), matrix_->n() - first());
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

Block Panel::below() {
    const std::int64_t skipped = matrix_->local_row(first() + width_),
                       rows = matrix_->local().rows - skipped;
    if (matrix_->grid().columns() == 1)
        return matrix_->local().part(skipped, matrix_->local_column(first()), rows, width_);
    return {data_ + head(width_), rows, width_, rows};
}

std::array<Block, 2> Panel::all() {
    return {Block{data_, head(width_), 1, head(width_)}, below()};
}

void Panel::find_parcels() {
    // The positions that the exchanges touch, and the row at each afterwards.
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < width_; ++i) places.push_back(first() + i);
    for (std::int64_t i = 0; i < width_; ++i)
        if (pivot(i) >= first() + width_) places.push_back(pivot(i));
    std::sort(places.begin() + width_, places.end());
    places.erase(std::unique(places.begin() + width_, places.end()), places.end());
    std::vector<std::int64_t> standing = places;
    for (std::int64_t i = 0; i < width_; ++i) {
        const std::int64_t other =
            pivot(i) < first() + width_
                ? pivot(i) - first()
                : std::lower_bound(places.begin() + width_, places.end(), pivot(i)) -
                      places.begin();
        std::swap(standing[static_cast<std::size_t>(i)], standing[static_cast<std::size_t>(other)]);
    }

    const Grid& grid = matrix_->grid();
    out_.assign(static_cast<std::size_t>(grid.rows()), {});
    in_.assign(static_cast<std::size_t>(grid.rows()), {});
    for (std::size_t p = 0; p < places.size(); ++p) {
        const std::int64_t place = places[p], row = standing[p];
        const bool on_top = place < first() + width_;
        const int from = matrix_->row_owner(row), to = matrix_->row_owner(place);
        for (int r = 0; r < grid.rows(); ++r) {
            if (!on_top && r != to) continue;
            if (from == grid.row()) {
                Parcel& parcel = out_[static_cast<std::size_t>(r)];
                parcel.gathered.push_back(matrix_->local_row(row));
                (on_top ? parcel.pivots : parcel.displaced).push_back(place - first());
            }
            if (r == grid.row()) {
                Parcel& parcel = in_[static_cast<std::size_t>(from)];
                if (on_top)
                    parcel.pivots.push_back(place - first());
                else
                    parcel.displaced.push_back(matrix_->local_row(place));
            }
        }
    }
}

}  // namespace linpack
