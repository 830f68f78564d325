// SPDX-License-Identifier: BSD-3-Clause
#include "panel.hpp"

#include <algorithm>
#include <map>

namespace linpack {

Panel::Panel(const Matrix& matrix)
    : matrix_(&matrix),
      top_(static_cast<std::size_t>(std::min(matrix.nb(), matrix.n()) *
                                    std::min(matrix.nb(), matrix.n()))),
      below_(static_cast<std::size_t>(matrix.local().rows * std::min(matrix.nb(), matrix.n()))),
      pivots_(static_cast<std::size_t>(std::min(matrix.nb(), matrix.n()) + 1)) {}

void Panel::open(std::int64_t step) {
    step_ = step;
    width_ = std::min(matrix_->nb(), matrix_->n() - first());
    pivots_[static_cast<std::size_t>(width_)] = -1;
}

Block Panel::top() {
    return {top_.data(), width_, width_, width_};
}

Block Panel::below() {
    const std::int64_t rows = matrix_->local().rows - matrix_->local_row(first() + width_);
    return {below_.data(), rows, width_, rows};
}

Block Panel::pivots() {
    return {pivots_.data(), width_ + 1, 1, width_ + 1};
}

void Panel::find_parcels() {
    // What row stands where, of those that the exchanges have touched.
    std::map<std::int64_t, std::int64_t> standing;
    const auto at = [&](std::int64_t place) -> std::int64_t& {
        return standing.try_emplace(place, place).first->second;
    };
    for (std::int64_t i = 0; i < width_; ++i) std::swap(at(first() + i), at(pivot(i)));

    const Grid& grid = matrix_->grid();
    out_.assign(static_cast<std::size_t>(grid.rows()), {});
    in_.assign(static_cast<std::size_t>(grid.rows()), {});
    for (const auto& [place, row] : standing) {
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
