// SPDX-License-Identifier: BSD-3-Clause
#include "smoke.hpp"

#include <algorithm>
#include <sstream>

namespace apps {
namespace {

hocket::Array clean(const hocket::Layout& layout, const hocket::Comm& comm) {
    const auto array = hocket::Array::empty(layout, hocket::dtype_of<double>(), comm);
    std::ranges::fill(array.local<double>(), 0.0);
    return array;
}

bool within(const Source& source, std::int64_t row, std::int64_t col) {
    const double down = static_cast<double>(row) - source.row;
    const double along = static_cast<double>(col) - source.col;
    return down * down + along * along <= Smoke::radius * Smoke::radius;
}

}  // namespace

std::vector<Source> sources_of(const std::string& text) {
    constexpr std::size_t most = 16;
    std::vector<Source> found;
    std::istringstream words(text);
    char comma = 0;
    for (Source one{}; found.size() < most && words >> one.row >> comma >> one.col && comma == ',';)
        found.push_back(one);
    return found;
}

Smoke::Smoke(const hocket::Layout& layout, const hocket::Comm& comm, std::vector<bool> solid)
    : cols_(layout.shape()[1]),
      held_(layout.global_indices(comm.rank())[0]),
      solid_(std::move(solid)),
      now_(clean(layout, comm), {1, 1}, {true, false}),
      next_(solid_.size()) {
    // The exchange never writes beyond the first and the last column.
    const auto extents = now_.local_shape();
    std::fill_n(static_cast<double*>(now_.data()), extents[0] * extents[1], 0.0);
}

void Smoke::step(std::span<const double> velocity, std::span<const Source> sources) {
    now_.exchange();
    const std::int64_t across = cols_ + 2;
    auto* const inside = static_cast<double*>(now_.data()) + across + 1;
    std::size_t point = 0;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        const double* c = inside + static_cast<std::int64_t>(i) * across;
        for (std::int64_t j = 0; j < cols_; ++j, ++c, ++point) {
            const double down = velocity[2 * point], along = velocity[2 * point + 1];
            const double north = c[-across], south = c[across], west = c[-1], east = c[1];
            double next = *c + diffusion * (north + south + west + east - 4.0 * *c);
            next -= down > 0 ? down * (*c - north) : down * (south - *c);
            next -= along > 0 ? along * (*c - west) : along * (east - *c);
            for (const auto& source : sources)
                if (within(source, held_[i], j)) next = 1.0;
            next_[point] = solid_[point] ? 0.0 : next;
        }
    }
    auto from = next_.begin();
    for (std::size_t i = 0; i < held_.size(); ++i, from += cols_)
        std::copy_n(from, cols_, inside + static_cast<std::int64_t>(i) * across);
}

}  // namespace apps
