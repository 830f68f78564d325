// SPDX-License-Identifier: BSD-3-Clause
#include "layout/arrangement.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "base/text.hpp"
#include "layout/form.hpp"

namespace hocket::layout {
namespace {

using Kind = layout::Format::Kind;

std::size_t index_of(int dimension) {
    return static_cast<std::size_t>(dimension);
}

}  // namespace

Arrangement::Arrangement(const Layout& layout) : layout_(layout) {
    const layout::Form& form = layout.form();
    if (!exists(form))
        throw LayoutError("cannot remap an array of layout " + layout::brief(form) +
                          " in place: its distribution text says where single elements lie, and "
                          "would mean another array once that is permuted; use redistribute, which "
                          "permutes as well");
    held_.assign(form.grid.size(), -1);
    formats_.resize(form.grid.size());
    for (std::size_t g = 0; g < form.grid.size(); ++g) {
        if (form.grid[g].kind != layout::Role::Kind::dimension) continue;
        held_[g] = form.grid[g].dimension;
        formats_[g] = form.base.formats[index_of(held_[g])];
    }
}

bool Arrangement::exists(const layout::Form& form) {
    return form.gridded() && !form.aligned() &&
           std::none_of(form.base.formats.begin(), form.base.formats.end(),
                        [](const layout::Format& f) { return f.kind == Kind::indirect; });
}

int Arrangement::grid_of(std::size_t dimension) const {
    const auto at = std::find(held_.begin(), held_.end(), static_cast<int>(dimension));
    return at == held_.end() ? -1 : static_cast<int>(at - held_.begin());
}

bool Arrangement::fits(std::size_t dimension, std::size_t grid) const {
    const layout::Format& format = formats_[grid];
    if (format.kind == Kind::cyclic) return even(dimension, grid);
    if (format.partition) return format.partition->extent() == shape()[dimension];
    return format.size == 0 ||
           base::product_up_to(format.size, procs(grid), base::max_size) >= shape()[dimension];
}

std::int64_t Arrangement::cycle_block(std::size_t grid) const {
    const layout::Format& format = formats_[grid];
    return format.kind == Kind::cyclic ? std::max<std::int64_t>(format.size, 1) : 0;
}

bool Arrangement::even(std::size_t dimension, std::size_t grid) const {
    const std::int64_t extent = shape()[dimension];
    if (formats_[grid].partition) {  // as the text had them
        for (std::int64_t c = 1; c < procs(grid); ++c)
            if (part(dimension, grid, c) != part(dimension, grid, 0)) return false;
        return true;
    }
    if (cycle_block(grid) == 0) return part(dimension, grid, 0) * procs(grid) == extent;
    const std::int64_t round = base::product_up_to(cycle_block(grid), procs(grid), base::max_size);
    return extent % round == 0;
}

bool Arrangement::alike(std::size_t a, std::size_t b) const {
    return procs(a) == procs(b) && formats_[a] == formats_[b];
}

std::int64_t Arrangement::part(std::size_t dimension, std::size_t grid,
                               std::int64_t coordinate) const {
    const layout::Axis axis =
        layout::axis_of(formats_[grid], shape()[dimension], procs(grid), dimension);
    return layout::held_by(axis, coordinate).count();
}

std::int64_t Arrangement::extent(std::size_t dimension,
                                 std::span<const std::int64_t> coordinates) const {
    const int g = grid_of(dimension);
    return g < 0 ? shape()[dimension] : part(dimension, index_of(g), coordinates[index_of(g)]);
}

std::int64_t Arrangement::elements(std::span<const std::int64_t> coordinates) const {
    std::int64_t product = 1;
    for (std::size_t d = 0; d < shape().size(); ++d) product *= extent(d, coordinates);
    return product;
}

std::int64_t Arrangement::most_elements(std::span<const std::int64_t> coordinates) const {
    if (layout_.num_elements() == 0) return 0;
    auto most = static_cast<long double>(layout_.num_elements());
    for (std::size_t g = 0; g < grids(); ++g) {
        if (held_[g] < 0) continue;
        long double share = 0;
        for (std::size_t d = 0; d < shape().size(); ++d) {
            const int now = grid_of(d);
            const bool swaps = now >= 0 && alike(g, index_of(now));
            if (static_cast<int>(d) != held_[g] && !swaps && !fits(d, g)) continue;
            share = std::max(share, static_cast<long double>(part(d, g, coordinates[g])) /
                                        static_cast<long double>(shape()[d]));
        }
        most *= share;
    }
    return std::min(layout_.num_elements(), static_cast<std::int64_t>(std::ceil(most)) + 1);
}

void Arrangement::apply(const Change& change) {
    if (change.kind == Change::Kind::deal)
        held_[change.grid] = static_cast<int>(change.to);
    else
        std::swap(held_[change.grid], held_[change.other]);
}

void Arrangement::require_distributable(std::size_t grid, std::size_t dimension,
                                        std::span<const std::int64_t> axes) const {
    if (cycle_block(grid) == 0) return;
    for (const std::size_t d : {index_of(held_[grid]), dimension})
        if (!even(d, grid))
            throw LayoutError(
                "cannot remap an array of layout " + layout::label(layout_.form()) + " by " +
                text::axes(axes) + " in place: dimension " + text::number(dimension) +
                " would be distributed cyclically in place of " +
                text::number(index_of(held_[grid])) + ", which needs both to be whole rounds of " +
                std::to_string(procs(grid)) + " blocks of " + std::to_string(cycle_block(grid)) +
                ", but dimension " + text::number(d) + " has " + std::to_string(shape()[d]) +
                " indices; use redistribute, which permutes as well");
}

// A free dimension for a temporary distribution, preferably one that keeps the array evenly
// distributed.
int Arrangement::temporary_grid(const std::vector<int>& wanted, std::size_t grid) const {
    int best = -1;
    long double least = 0;
    for (std::size_t d = 0; d < shape().size(); ++d) {
        const int index = static_cast<int>(d);
        if (grid_of(d) >= 0 || !fits(d, grid)) continue;
        if (std::find(wanted.begin(), wanted.end(), index) != wanted.end()) continue;
        const long double share = static_cast<long double>(part(d, grid, 0)) /
                                  static_cast<long double>(std::max<std::int64_t>(shape()[d], 1));
        if (best >= 0 && share >= least) continue;
        best = index;
        least = share;
    }
    return best;
}

Change Arrangement::next_change(const std::vector<int>& wanted,
                                std::span<const std::int64_t> axes) const {
    std::size_t stuck = grids();
    for (std::size_t g = 0; g < grids(); ++g) {
        if (held_[g] == wanted[g]) continue;
        if (grid_of(index_of(wanted[g])) < 0) {
            require_distributable(g, index_of(wanted[g]), axes);
            return {Change::Kind::deal, g, index_of(held_[g]), index_of(wanted[g]), 0};
        }
        if (stuck == grids()) stuck = g;
    }
    // Dimensions that wait for each other in a cycle. The one that `stuck` needs is distributed
    // along:
    const std::size_t other = index_of(grid_of(index_of(wanted[stuck])));
    if (alike(stuck, other)) return {Change::Kind::swap, stuck, 0, 0, other};
    const int rest = temporary_grid(wanted, other);
    if (rest >= 0) {
        require_distributable(other, index_of(rest), axes);
        return {Change::Kind::deal, other, index_of(held_[other]), index_of(rest), 0};
    }
    throw LayoutError(
        "cannot remap an array of layout " + layout::label(layout_.form()) + " by " +
        text::axes(axes) + " in place: dimensions " + text::number(index_of(held_[stuck])) +
        " and " + text::number(index_of(held_[other])) +
        " change places, which are distributed over " + std::to_string(procs(stuck)) + " and " +
        std::to_string(procs(other)) +
        " processes, and every dimension is distributed; use redistribute, which permutes "
        "as well, or as many processes along both");
}

std::vector<Change> Arrangement::changes_to(std::span<const std::int64_t> axes) const {
    std::vector<int> wanted = held_;
    for (int& dimension : wanted)
        if (dimension >= 0) dimension = static_cast<int>(axes[index_of(dimension)]);
    std::vector<Change> changes;
    Arrangement now = *this;
    while (now.held_ != wanted) {
        changes.push_back(now.next_change(wanted, axes));
        now.apply(changes.back());
    }
    return changes;
}

Layout remapped(const Layout& layout, std::span<const std::int64_t> axes) {
    std::vector<bool> seen(layout.dimensions());
    Shape shape;
    for (const std::int64_t axis : axes) {
        const auto d = static_cast<std::size_t>(axis);
        if (axis < 0 || d >= seen.size() || seen[d]) break;
        seen[d] = true;
        shape.push_back(layout.shape()[d]);
    }
    if (shape.size() != layout.dimensions() || axes.size() != shape.size())
        throw LayoutError(text::axes(axes) + ": no permutation of the " +
                          std::to_string(layout.dimensions()) + " dimensions of " +
                          layout::label(layout.form()) + "; name each once");
    static_cast<void>(Arrangement(layout).changes_to(axes));
    const Layout plain(shape, layout.dist(), layout.procs(), layout.replicate());
    const auto& order = layout.form().order;
    return order ? plain.relabeled(order->process, layout.size()) : plain;
}

}  // namespace hocket::layout
