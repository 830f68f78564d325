// SPDX-License-Identifier: BSD-3-Clause
#include "order.hpp"

#include <numeric>
#include <utility>

namespace linpack {

Order::Order(const Matrix& matrix)
    : matrix_(&matrix),
      standing_(static_cast<std::size_t>(matrix.n())),
      positions_(static_cast<std::size_t>(matrix.local().rows)),
      rows_(positions_.size()) {
    std::iota(standing_.begin(), standing_.end(), 0);
    std::iota(rows_.begin(), rows_.end(), 0);
    for (std::size_t i = 0; i < rows_.size(); ++i) positions_[i] = matrix.row(rows_[i]);
    locals_ = rows_;
}

std::int64_t Order::exchange(std::int64_t position, std::int64_t pivot) {
    const auto there = [&](std::int64_t place) -> std::int64_t& {
        return standing_[static_cast<std::size_t>(place)];
    };
    std::swap(there(position), there(pivot));
    for (const std::int64_t place : {pivot, position})
        if (owner(place) == matrix_->grid().row())
            positions_[static_cast<std::size_t>(local(there(place)))] = place;
    if (owner(position) != matrix_->grid().row()) return -1;
    const std::int64_t was = local(there(position)), front = done_++;
    const auto a = static_cast<std::size_t>(was), b = static_cast<std::size_t>(front);
    std::swap(positions_[a], positions_[b]);
    std::swap(rows_[a], rows_[b]);
    locals_[static_cast<std::size_t>(rows_[a])] = was;
    locals_[static_cast<std::size_t>(rows_[b])] = front;
    return was;
}

Exchange Order::exchange_all(std::int64_t position, const std::vector<std::int64_t>& pivots) {
    Exchange found{.held = {}, .pivots = {}, .from = {}, .to = {}, .before = done_, .after = done_};
    found.held.resize(static_cast<std::size_t>(matrix_->grid().rows()));
    const std::vector<std::int64_t> before = locals_;
    const auto was = [&](std::int64_t local) {
        return before[static_cast<std::size_t>(rows_[static_cast<std::size_t>(local)])];
    };
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(pivots.size()); ++i) {
        const std::int64_t here = exchange(position + i, pivots[static_cast<std::size_t>(i)]);
        if (here >= 0) found.pivots.push_back(was(done_ - 1));
        found.held[static_cast<std::size_t>(owner(position + i))].push_back(i);
    }
    found.after = done_;
    for (const std::int64_t left : found.pivots) {
        if (left < done_) continue;
        found.from.push_back(was(left));
        found.to.push_back(left);
    }
    return found;
}

}  // namespace linpack
