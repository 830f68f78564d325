// SPDX-License-Identifier: BSD-3-Clause
#include "matrix.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace linpack {
namespace {

// The finaliser of splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators"): every bit of the result depends on every bit of x.
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// How many of the indices below `index` a process has, of `processes` that have blocks in turns.
std::int64_t below(std::int64_t index, std::int64_t nb, int processes, int me) {
    const std::int64_t round = nb * processes;
    return index / round * nb + std::clamp<std::int64_t>(index % round - me * nb, 0, nb);
}

// The distance of columns in memory. Whole cache lines, and so many that elements of a row are not
// in the same few sets of a cache.
std::int64_t stride_for(std::int64_t rows) {
    const std::int64_t lines = (rows + 7) / 8;
    return 8 * (lines % 8 == 0 ? lines + 1 : lines);
}

// As hocket::Array::empty, but private memory, in pages of 2 MiB if the system has them (shared
// memory rarely does): a row's elements are a column apart, each in another page of 4 KiB, and the
// processor cannot cache so many translations.
hocket::Array room_for(const hocket::Layout& layout, const hocket::Comm& everyone) {
    constexpr std::size_t page = std::size_t{2} << 20;
    const hocket::Shape local = layout.local_shape(everyone.rank());
    constexpr std::int64_t size = sizeof(double);
    const std::int64_t stride = size * stride_for(local[1]);
    const auto bytes = static_cast<std::size_t>(local[0] * stride);
    const std::size_t whole = std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
    const std::shared_ptr<void> memory(std::aligned_alloc(page, whole), std::free);
    if (memory == nullptr) throw std::bad_alloc();
    if (bytes >= page) madvise(memory.get(), whole, MADV_HUGEPAGE);
    return hocket::Array::wrap(memory.get(), layout, hocket::dtype_of<double>(), everyone,
                               hocket::Shape{stride, size}, memory);
}

}  // namespace

double Elements::operator()(std::int64_t i, std::int64_t j) const {
    if (singular && j == n / 2) return 0;
    const auto row = static_cast<std::uint64_t>(i), column = static_cast<std::uint64_t>(j);
    const std::uint64_t bits = mixed(mixed(seed * 0x9e3779b97f4a7c15ULL + column) + row);
    const bool small = steps > 0 && i / steps % 2 == 0;
    return (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * (small ? 0x1p-20 : 1);
}

Matrix::Matrix(const Grid& grid, const hocket::Comm& everyone, std::int64_t n, std::int64_t nb)
    : grid_(&grid),
      n_(n),
      nb_(std::min(nb, n)),
      array_(room_for(hocket::Layout({n + 1, n},
                                     "(CYCLIC(" + std::to_string(nb_) + "), CYCLIC(" +
                                         std::to_string(nb_) + "))",
                                     {grid.columns(), grid.rows()}),
                      everyone)) {
    auto held = array_.layout().global_indices(array_.process());
    columns_ = std::move(held[0]);
    rows_ = std::move(held[1]);
    const auto count = static_cast<std::int64_t>(rows_.size());
    local_ = {static_cast<double*>(array_.data()), count,
              static_cast<std::int64_t>(columns_.size()), stride_for(count)};
    triangles_ = std::make_unique<double[]>(static_cast<std::size_t>(nb_ * local_column(n)));
}

std::int64_t Matrix::local_row(std::int64_t row) const {
    return below(row, nb_, grid_->rows(), grid_->row());
}

std::int64_t Matrix::local_column(std::int64_t column) const {
    return below(column, nb_, grid_->columns(), grid_->column());
}

void Matrix::fill(const Elements& elements) const {
    for (std::int64_t j = 0; j < local_.columns; ++j)
        for (std::int64_t i = 0; i < local_.rows; ++i)
            local_.at(i, j) = elements(row(i), column(j));
}

}  // namespace linpack
