// SPDX-License-Identifier: BSD-3-Clause
#include "flow_field.hpp"

#include <algorithm>
#include <cmath>

namespace apps {
namespace {

constexpr std::size_t speeds = FlowField::speeds;
// Speeds by row and by column; the opposite of each; its fraction in a gas at rest.
constexpr double by_row[speeds] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr double by_col[speeds] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constexpr std::size_t opposite[speeds] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
constexpr double weight[speeds] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                                   1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

struct Moments {
    double density, row, col;
};

Moments moments(const double* cell) {
    Moments m{0, 0, 0};
    for (std::size_t q = 0; q < speeds; ++q) {
        m.density += cell[q];
        m.row += by_row[q] * cell[q];
        m.col += by_col[q] * cell[q];
    }
    m.row /= m.density;
    m.col /= m.density;
    return m;
}

// The populations at rest relative to a flow of this density and velocity.
double balanced(std::size_t q, const Moments& m) {
    const double square = 1.5 * (m.row * m.row + m.col * m.col);
    const double along = 3.0 * (by_row[q] * m.row + by_col[q] * m.col);
    return weight[q] * m.density * (1.0 + along + 0.5 * along * along - square);
}

// For integer points: the disc is in the first third of the rows and the first quarter of the
// columns.
bool in_disc(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
    const auto radius = static_cast<double>(rows) / 8.0;
    const double down = static_cast<double>(row) - static_cast<double>(rows) / 3.0;
    const double along = static_cast<double>(col) - static_cast<double>(cols) / 4.0;
    return down * down + along * along < radius * radius;
}

double wrapped(double at, std::int64_t extent) {
    const auto n = static_cast<double>(extent);
    const double inside = at - std::floor(at / n) * n;
    return inside < n ? inside : 0.0;
}

}  // namespace

FlowField::FlowField(std::int64_t rows, std::int64_t cols, const hocket::Comm& comm)
    : rows_(rows),
      cols_(cols),
      parts_({rows, cols, speeds}, "(BLOCK, *, *)", {comm.size()}),
      velocity_({rows, cols, 2}, "(BLOCK, *, *)", {comm.size()}),
      dye_({rows, cols}, "(BLOCK, *)", {comm.size()}) {
    const auto start = hocket::Array::empty(parts_, hocket::dtype_of<double>(), comm);
    held_ = parts_.global_indices(comm.rank())[0];
    auto at = start.local<double>().begin();
    for (const auto row : held_) {
        for (std::int64_t col = 0; col < cols; ++col) {
            solid_.push_back(in_disc(row, col, rows, cols));
            at = std::copy(std::begin(weight), std::end(weight), at);
        }
    }
    marks_.resize(solid_.size());
    next_.resize(solid_.size() * speeds);
    now_.emplace(start, hocket::Shape{1, 1, 0}, std::vector<bool>{true, true, false});
}

double* FlowField::cell(std::size_t local_row, std::int64_t col) {
    const auto row = static_cast<std::int64_t>(local_row) + 1;
    return static_cast<double*>(now_->data()) + (row * (cols_ + 2) + col + 1) * speeds;
}

void FlowField::collide(double* cell, bool solid) const {
    double after[speeds];
    if (solid) {
        for (std::size_t q = 0; q < speeds; ++q) after[q] = cell[opposite[q]];
    } else {
        const Moments m = moments(cell);
        for (std::size_t q = 0; q < speeds; ++q)
            after[q] = cell[q] - (cell[q] - balanced(q, m)) / relaxation_ +
                       3.0 * weight[q] * force_ * by_col[q];
    }
    std::copy_n(after, speeds, cell);
}

void FlowField::step() {
    for (std::size_t i = 0; i < held_.size(); ++i)
        for (std::int64_t j = 0; j < cols_; ++j)
            collide(cell(i, j),
                    solid_[i * static_cast<std::size_t>(cols_) + static_cast<std::size_t>(j)]);
    now_->exchange();
    auto next = next_.begin();
    const std::int64_t across = (cols_ + 2) * FlowField::speeds;
    for (std::size_t i = 0; i < held_.size(); ++i)
        for (std::int64_t j = 0; j < cols_; ++j)
            for (std::size_t q = 0; q < speeds; ++q)
                *next++ = cell(i, j)[static_cast<std::int64_t>(q) -
                                     static_cast<std::int64_t>(by_row[q]) * across -
                                     static_cast<std::int64_t>(by_col[q]) * FlowField::speeds];
    next = next_.begin();
    for (std::size_t i = 0; i < held_.size(); ++i) {
        std::copy_n(next, cols_ * FlowField::speeds, cell(i, 0));
        next += cols_ * FlowField::speeds;
    }
    if (entering_ > 0) set_ends();
}

void FlowField::enter(double speed) {
    entering_ = speed;
    force_ = 0;
    for (std::size_t i = 0; i < held_.size(); ++i)
        for (std::int64_t j = 0; j < cols_; ++j)
            for (std::size_t q = 0; q < speeds; ++q) cell(i, j)[q] = balanced(q, {1, 0, speed});
}

// The first column has the entering flow, and the last one that of the column before.
void FlowField::set_ends() {
    for (std::size_t i = 0; i < held_.size(); ++i) {
        for (std::size_t q = 0; q < speeds; ++q) cell(i, 0)[q] = balanced(q, {1, 0, entering_});
        if (cols_ > 1) std::copy_n(cell(i, cols_ - 2), speeds, cell(i, cols_ - 1));
    }
}

void FlowField::require(const hocket::Array& array, const hocket::Layout& layout) const {
    if (!(array.layout() == layout))
        throw hocket::LayoutError("the field is " + layout.text() + ", not " +
                                  array.layout().text());
}

void FlowField::show_velocity(const hocket::Array& velocity) const {
    require(velocity, velocity_);
    auto out = velocity.local<double>().begin();
    for (std::size_t i = 0; i < held_.size(); ++i) {
        for (std::int64_t j = 0; j < cols_; ++j) {
            const Moments m = moments(const_cast<FlowField*>(this)->cell(i, j));
            *out++ = m.row;
            *out++ = m.col;
        }
    }
}

void FlowField::show(const hocket::Array& velocity, const hocket::Array& dye) const {
    require(dye, dye_);
    show_velocity(velocity);
    std::ranges::copy(marks_, dye.local<double>().begin());
}

void FlowField::mark(std::span<const double> tracers) {
    for (std::size_t t = 0; t + 1 < tracers.size(); t += 2) {
        const auto row = static_cast<std::int64_t>(tracers[t]);
        const auto col = static_cast<std::int64_t>(tracers[t + 1]);
        if (held_.empty() || row < held_.front() || row > held_.back()) continue;
        marks_[static_cast<std::size_t>((row - held_.front()) * cols_ + col)] += 1;
    }
}

Tracers::Tracers(std::int64_t rows, std::int64_t cols, std::int64_t count)
    : rows_(rows), cols_(cols) {
    for (std::int64_t t = 0; t < count; ++t) {
        const double share = (static_cast<double>(t) + 0.5) / static_cast<double>(count);
        places_.push_back(share * static_cast<double>(rows));
        places_.push_back(static_cast<double>(std::min<std::int64_t>(1, cols - 1)));
    }
}

void Tracers::move(std::span<const double> velocity, std::int64_t steps) {
    for (std::size_t t = 0; t < places_.size(); t += 2) {
        const auto row = static_cast<std::int64_t>(places_[t]);
        const auto col = static_cast<std::int64_t>(places_[t + 1]);
        const auto at = static_cast<std::size_t>(2 * (row * cols_ + col));
        places_[t] = wrapped(places_[t] + static_cast<double>(steps) * velocity[at], rows_);
        places_[t + 1] =
            wrapped(places_[t + 1] + static_cast<double>(steps) * velocity[at + 1], cols_);
    }
}

}  // namespace apps
