// SPDX-License-Identifier: BSD-3-Clause
// Layouts and ScaLAPACK's array descriptors: two-dimensional block-cyclic distributions over a
// process grid of BLACS (ScaLAPACK Users' Guide, section 4.3).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "layout/form.hpp"

namespace hocket {

namespace {

using layout::Axis;
using layout::Form;
using layout::Role;

/// One dimension in ScaLAPACK's terms: index i is at coordinate (i / block + source) mod procs.
struct Dealt {
    std::int64_t block = 1;
    std::int64_t source = 0;
    std::int64_t procs = 1;
    int grid = -1;  ///< dimension of the arrangement; -1: not distributed
};

std::string number(std::int64_t value) {
    return std::to_string(value);
}

[[noreturn]] void refuse(const Form& form, const std::string& why) {
    throw LayoutError("ScaLAPACK cannot describe " + layout::brief(form) + ", because " + why +
                      "; redistribute to one whose formats are BLOCK, CYCLIC(k) or *");
}

[[noreturn]] void refuse(const Form& form, std::size_t d) {
    refuse(form, "the blocks of dimension " + text::number(d) + " are not equal and round robin");
}

/// For a dimension whose blocks have listed owners, if they are equal and round robin.
Dealt dealt_by(const layout::Partition& partition, const Form& form, std::size_t d) {
    Dealt result{1, 0, form.axes[d].procs, form.axes[d].grid};
    std::int64_t next = -1, last = -1;  // the next owner; the length of the last block
    for (std::int64_t k = 0; k < partition.pieces(); ++k) {
        const std::int64_t length = partition.begin(k + 1) - partition.begin(k);
        if (length == 0) continue;
        if (next < 0) {
            result.block = last = length;
            result.source = partition.owner_of(k);
        } else if (last != result.block || length > result.block || partition.owner_of(k) != next) {
            refuse(form, d);
        }
        last = length;
        next = (partition.owner_of(k) + 1) % result.procs;
    }
    return result;
}

Dealt distributed_dimension(const Form& form, std::size_t d) {
    const Axis& axis = form.axes[d];
    const bool equal = !axis.partition && axis.stride == 1;
    // A section or an alignment may begin at another block, but not within one.
    const bool at_a_block = equal && (axis.offset % axis.block == 0 ||
                                      axis.extent <= axis.block - axis.offset % axis.block);
    if (axis.grid < 0 || (axis.procs == 1 && !at_a_block))
        return {std::max<std::int64_t>(axis.extent, 1), 0, 1, axis.grid};
    if (at_a_block)
        return {axis.block, axis.offset / axis.block % axis.procs, axis.procs, axis.grid};
    const bool untouched = axis.partition && axis.stride == 1 && axis.offset == 0 &&
                           axis.partition->extent() == axis.extent;
    if (!untouched) refuse(form, d);
    return dealt_by(*axis.partition, form, d);
}

/// A layout in ScaLAPACK's terms, rows first.
struct Described {
    std::array<std::size_t, 2> dimension;
    std::array<Dealt, 2> distributed_dimension;
    BlacsGrid grid;
};

/// The process at each position of the grid, rotated so that it begins at `first`.
std::vector<std::int64_t> rotated(const Form& form,
                                  const std::array<Dealt, 2>& distributed_dimension,
                                  std::array<std::int64_t, 2> first) {
    std::vector<std::int64_t> processes;
    Shape at;
    for (const Role& role : form.grid)
        at.push_back(role.kind == Role::Kind::copies ? role.holders.element(0) : role.coordinate);
    for (std::int64_t p = 0; p < distributed_dimension[0].procs; ++p) {
        for (std::int64_t q = 0; q < distributed_dimension[1].procs; ++q) {
            const std::array<std::int64_t, 2> place{
                (p + first[0]) % distributed_dimension[0].procs,
                (q + first[1]) % distributed_dimension[1].procs};
            for (std::size_t k = 0; k < 2; ++k)
                if (distributed_dimension[k].grid >= 0)
                    at[static_cast<std::size_t>(distributed_dimension[k].grid)] = place[k];
            processes.push_back(form.process_at(form.position(at)));
        }
    }
    return processes;
}

Described described(const Form& form, bool transposed) {
    if (form.shape.size() != 2)
        refuse(form, "it has " + number(static_cast<std::int64_t>(form.shape.size())) +
                         " dimensions instead of 2");
    if (!form.gridded()) refuse(form, "it is a list, or boxes");
    for (const Role& role : form.grid)
        if (role.kind == Role::Kind::copies && role.holders.count() != 1)
            refuse(form, "several processes hold each element");
    const std::array<std::size_t, 2> order{transposed ? 1U : 0U, transposed ? 0U : 1U};
    Described result{
        order, {distributed_dimension(form, order[0]), distributed_dimension(form, order[1])}, {}};
    // The lowest process gets position (0, 0), as in the grids of BLACS_GRIDINIT.
    auto& [rows, columns] = result.distributed_dimension;
    const auto unrotated = rotated(form, result.distributed_dimension, {0, 0});
    const auto lowest = std::ranges::min_element(unrotated) - unrotated.begin();
    const std::array<std::int64_t, 2> first{lowest / columns.procs, lowest % columns.procs};
    result.grid = {rows.procs, columns.procs, rotated(form, result.distributed_dimension, first)};
    for (std::size_t k = 0; k < 2; ++k) {
        Dealt& each = result.distributed_dimension[k];
        each.source = (each.source + each.procs - first[k]) % each.procs;
    }
    return result;
}

void require(bool holds, const char* entry, std::int64_t value, const std::string& wanted) {
    if (!holds)
        throw LayoutError(std::string("the descriptor's ") + entry + " is " + number(value) + "; " +
                          wanted);
}

void check_descriptor(const BlacsDescriptor& desc, const BlacsGrid& grid) {
    require(desc[0] == 1, "DTYPE_", desc[0], "layouts are of dense matrices, whose DTYPE_ is 1");
    require(desc[2] >= 0, "M_", desc[2], "a matrix has 0 rows or more");
    require(desc[3] >= 0, "N_", desc[3], "a matrix has 0 columns or more");
    require(desc[4] >= 1, "MB_", desc[4], "a block has 1 row or more");
    require(desc[5] >= 1, "NB_", desc[5], "a block has 1 column or more");
    const auto within = [](std::int64_t extent, const char* what) {
        return "the grid has " + std::string(what) + " 0 to " + number(extent - 1) +
               ": is the descriptor of another grid?";
    };
    require(desc[6] >= 0 && desc[6] < grid.rows, "RSRC_", desc[6], within(grid.rows, "rows"));
    require(desc[7] >= 0 && desc[7] < grid.columns, "CSRC_", desc[7],
            within(grid.columns, "columns"));
}

void check_grid(const BlacsGrid& grid) {
    const std::string extents = number(grid.rows) + " by " + number(grid.columns);
    if (grid.rows < 1 || grid.columns < 1)
        throw LayoutError("the grid is " + extents + "; give 1 row and 1 column or more");
    const auto many = base::product(grid.rows, grid.columns);
    if (!many || *many > std::int64_t{1} << 28)
        throw LayoutError("the grid of " + extents + " processes is too large");
    if (!grid.processes.empty() && static_cast<std::int64_t>(grid.processes.size()) != *many)
        throw LayoutError("the grid of " + extents + " names " +
                          number(static_cast<std::int64_t>(grid.processes.size())) +
                          " processes; name one for each place, row by row");
}

}  // namespace

Layout Layout::from_blacs(const BlacsDescriptor& desc, const BlacsGrid& grid, std::int64_t rank,
                          bool transposed) {
    check_grid(grid);
    check_descriptor(desc, grid);
    // Position (p, q) of the layout belongs to the p-th block of rows; rows begin at RSRC_.
    std::array<std::int64_t, 2> shape{desc[2], desc[3]}, block{desc[4], desc[5]};
    std::array<std::int64_t, 2> procs{grid.rows, grid.columns};
    if (transposed)
        for (auto* pair : {&shape, &block, &procs}) std::swap((*pair)[0], (*pair)[1]);
    std::vector<std::int64_t> processes;
    for (std::int64_t first = 0; first < procs[0]; ++first) {
        for (std::int64_t second = 0; second < procs[1]; ++second) {
            const std::int64_t p = ((transposed ? second : first) + desc[6]) % grid.rows;
            const std::int64_t q = ((transposed ? first : second) + desc[7]) % grid.columns;
            const std::int64_t place = p * grid.columns + q;
            processes.push_back(
                grid.processes.empty() ? place : grid.processes[static_cast<std::size_t>(place)]);
        }
    }
    const auto cyclic = [](std::int64_t size) {
        return layout::Format{layout::Format::Kind::cyclic, size};
    };
    layout::Template base{
        {shape[0], shape[1]}, {cyclic(block[0]), cyclic(block[1])}, {procs[0], procs[1]}, {}};
    const Layout result(std::make_shared<const Form>(
        layout::make_relabeled(layout::make_form(std::move(base)), processes, 0)));
    if (rank >= 0) {
        const std::int64_t held = result.local_shape(rank)[transposed ? 1 : 0];
        require(desc[8] >= std::max<std::int64_t>(held, 1), "LLD_", desc[8],
                "process " + number(rank) + " holds " + number(held) +
                    " rows, which is the least: is the descriptor of another process or grid?");
    }
    return result;
}

BlacsDescriptor Layout::to_blacs(std::int64_t rank, std::int64_t context, bool transposed) const {
    form_->check_rank(rank);
    const auto [order, distributed_dimension, grid] = described(*form_, transposed);
    const bool within = form_->place(rank).has_value();
    const std::int64_t rows = form_->sets(rank)[order[0]].count();
    return {1,
            within ? context : -1,
            form_->shape[order[0]],
            form_->shape[order[1]],
            distributed_dimension[0].block,
            distributed_dimension[1].block,
            distributed_dimension[0].source,
            distributed_dimension[1].source,
            std::max<std::int64_t>(rows, 1)};
}

BlacsGrid Layout::blacs_grid(bool transposed) const {
    return described(*form_, transposed).grid;
}

}  // namespace hocket
