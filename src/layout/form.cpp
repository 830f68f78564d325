// SPDX-License-Identifier: BSD-3-Clause
#include "layout/form.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace hocket::layout {

namespace {

void check_extents(const Template& base, const Shape& shape) {
    for (const Shape* each : {&base.shape, &shape})
        for (const std::int64_t extent : *each)
            if (extent < 0)
                throw LayoutError("shape " + text_of(*each) + " has the negative extent " +
                                  std::to_string(extent) + "; extents are 0 or more");
    for (const std::int64_t extent : base.procs)
        if (extent < 1)
            throw LayoutError("procs " + text_of(base.procs) + " has the extent " +
                              std::to_string(extent) +
                              "; each dimension of the processes needs 1 or more");
    if (!base::product(shape))
        throw LayoutError("shape " + text_of(shape) +
                          " has more than 2^63 - 1 elements; make an extent smaller");
    if (!base::product(base.procs))
        throw LayoutError("procs " + text_of(base.procs) +
                          " are more than 2^63 - 1 processes; make an extent smaller");
}

void check_counts(const Template& base) {
    if (base.formats.size() != base.shape.size())
        throw LayoutError("distribution " + text_of(base.formats) + " has " +
                          std::to_string(base.formats.size()) + " formats, but shape " +
                          text_of(base.shape) + " has " + std::to_string(base.shape.size()) +
                          " dimensions; write one format a dimension, * where it is not "
                          "distributed");
    const auto ranks = static_cast<std::int64_t>(base.procs.size());
    for (std::size_t i = 0; i < base.replicate.size(); ++i) {
        const std::int64_t position = base.replicate[i];
        if (position < 0 || position >= ranks)
            throw LayoutError("replicate names position " + std::to_string(position) +
                              ", but procs " + text_of(base.procs) + " has positions 0 to " +
                              std::to_string(ranks - 1));
        if (i > 0 && position == base.replicate[i - 1])
            throw LayoutError("replicate names position " + std::to_string(position) +
                              " twice; name each once");
    }
    const std::int64_t distributed =
        std::count_if(base.formats.begin(), base.formats.end(),
                      [](const Format& f) { return f.kind != Format::Kind::whole; });
    const auto replicated = static_cast<std::int64_t>(base.replicate.size());
    if (distributed + replicated != ranks) {
        std::string message = "distribution " + text_of(base.formats) + " distributes " +
                              std::to_string(distributed) + " dimension" +
                              (distributed == 1 ? "" : "s");
        if (replicated > 0)
            message += " and replicates along " + std::to_string(replicated) + " of the processes'";
        throw LayoutError(message + ", but procs " + text_of(base.procs) + " has " +
                          std::to_string(ranks) + " extent" + (ranks == 1 ? "" : "s") +
                          "; give one extent for each dimension that is not *, and one for each "
                          "position named in replicate");
    }
}

/// The block size of one dimension, HPF's.
std::int64_t block_of(const Template& base, std::size_t d, std::int64_t procs) {
    const Format& format = base.formats[d];
    const std::int64_t extent = base.shape[d];
    if (format.size < 0)
        throw LayoutError("block size " + std::to_string(format.size) + " is negative");
    if (format.kind == Format::Kind::cyclic) return std::max<std::int64_t>(format.size, 1);
    if (format.size == 0)
        return std::max<std::int64_t>(extent / procs + (extent % procs != 0 ? 1 : 0), 1);
    if (base::product_up_to(format.size, procs, base::max_size) < extent)
        throw LayoutError("BLOCK(" + std::to_string(format.size) + ") on " + std::to_string(procs) +
                          " processes holds " + std::to_string(format.size * procs) + " of the " +
                          std::to_string(extent) + " indices of dimension " + std::to_string(d) +
                          "; use BLOCK(" +
                          std::to_string(extent / procs + (extent % procs != 0 ? 1 : 0)) +
                          ") or more, or CYCLIC(" + std::to_string(format.size) + ")");
    return format.size;
}

/// The template's own axes, and its arrangement's roles with template dimensions for dimensions.
std::vector<Axis> axes_of(const Template& base, std::vector<Role>& grid) {
    check_counts(base);
    std::vector<Axis> axes;
    int position = 0;
    const auto skip_copies = [&] {
        while (std::binary_search(base.replicate.begin(), base.replicate.end(), position)) {
            grid.push_back({Role::Kind::copies, -1, 0});
            ++position;
        }
    };
    for (std::size_t d = 0; d < base.shape.size(); ++d) {
        Axis axis;
        axis.extent = base.shape[d];
        axis.block = std::max<std::int64_t>(axis.extent, 1);
        if (base.formats[d].kind != Format::Kind::whole) {
            skip_copies();
            axis.procs = base.procs[static_cast<std::size_t>(position)];
            axis.block = block_of(base, d, axis.procs);
            axis.grid = position++;
            grid.push_back({Role::Kind::dimension, static_cast<int>(d), 0});
        }
        axes.push_back(axis);
    }
    skip_copies();
    return axes;
}

std::string name_of(std::size_t d) {
    return "i" + std::to_string(d);
}

void check_subscript(const Subscript& s, const Shape& shape, const Template& base, std::size_t d,
                     std::vector<bool>& used) {
    const std::int64_t extent = base.shape[d];
    const auto leaves = [&](base::wide position) { return position < 0 || position >= extent; };
    if (s.kind == Subscript::Kind::any) return;
    if (s.kind == Subscript::Kind::constant) {
        if (leaves(s.offset))
            throw LayoutError("subscript " + std::to_string(s.offset) + " of template dimension " +
                              std::to_string(d) + " leaves the template " + text_of(base.shape) +
                              "; use 0 to " + std::to_string(extent - 1));
        return;
    }
    if (s.dimension < 0 || static_cast<std::size_t>(s.dimension) >= shape.size())
        throw LayoutError("a subscript names array dimension " + std::to_string(s.dimension) +
                          ", but the array " + text_of(shape) + " has " +
                          std::to_string(shape.size()) + " dimensions");
    const auto dimension = static_cast<std::size_t>(s.dimension);
    if (used[dimension])
        throw LayoutError("array dimension " + std::to_string(dimension) +
                          " is aligned with two template dimensions; use each dummy once");
    used[dimension] = true;
    if (shape[dimension] == 0) return;
    const base::wide last = static_cast<base::wide>(s.stride) * (shape[dimension] - 1) + s.offset;
    if (s.stride == 0 && shape[dimension] > 1)
        throw LayoutError("a subscript of template dimension " + std::to_string(d) +
                          " has stride 0; write a constant, or a stride of 1 or more either way");
    if (leaves(s.offset) || leaves(last)) {
        const bool first_bad = leaves(s.offset);
        throw LayoutError(
            "subscript " + std::to_string(s.stride) + "*" + name_of(dimension) +
            (s.offset < 0 ? "" : "+") + std::to_string(s.offset) + " leaves the template " +
            text_of(base.shape) + " in dimension " + std::to_string(d) + " at index " +
            std::to_string(first_bad ? 0 : shape[dimension] - 1) +
            "; make the template larger, or the array " + text_of(shape) + " smaller");
    }
}

}  // namespace

Form make_form(Template base) {
    std::vector<Subscript> identity;
    for (std::size_t d = 0; d < base.shape.size(); ++d)
        identity.push_back({Subscript::Kind::index, static_cast<int>(d), 1, 0});
    Shape shape = base.shape;
    return make_form(std::move(shape), std::move(identity), std::move(base));
}

Form make_form(Shape shape, std::vector<Subscript> alignment, Template base) {
    std::sort(base.replicate.begin(), base.replicate.end());
    for (Format& format : base.formats)  // one way to write it
        if (format.kind == Format::Kind::cyclic && format.size == 1) format.size = 0;
    Form form;
    check_extents(base, shape);
    const std::vector<Axis> base_axes = axes_of(base, form.grid);
    if (alignment.size() != base.shape.size())
        throw LayoutError("the alignment has " + std::to_string(alignment.size()) +
                          " subscripts, but the template " + text_of(base.shape) + " has " +
                          std::to_string(base.shape.size()) + " dimensions");
    std::vector<bool> used(shape.size(), false);
    for (const std::int64_t extent : shape) {
        Axis axis;
        axis.extent = extent;
        axis.block = std::max<std::int64_t>(extent, 1);
        form.axes.push_back(axis);
    }
    for (std::size_t d = 0; d < alignment.size(); ++d) {
        Subscript& s = alignment[d];
        check_subscript(s, shape, base, d, used);
        const Axis& from = base_axes[d];
        Role role;
        if (s.kind == Subscript::Kind::index) {
            Axis& axis = form.axes[static_cast<std::size_t>(s.dimension)];
            // Nothing depends on the stride of no index or of one.
            if (axis.extent <= 1) s.stride = 1;
            if (axis.extent == 0) s.offset = 0;
            axis.procs = from.procs;
            axis.block = from.block;
            axis.stride = s.stride;
            axis.offset = s.offset;
            axis.grid = from.grid;
            role = {Role::Kind::dimension, s.dimension, 0};
        } else if (s.kind == Subscript::Kind::constant) {
            role = {Role::Kind::fixed, -1, from.owner(s.offset)};
        } else {
            role = {Role::Kind::copies, -1, 0};
        }
        if (from.grid >= 0) form.grid[static_cast<std::size_t>(from.grid)] = role;
    }
    form.size = *base::product(base.procs);
    form.elements = *base::product(shape);
    for (std::size_t g = 0; g < form.grid.size(); ++g)
        if (form.grid[g].kind == Role::Kind::copies) form.copies *= base.procs[g];
    form.shape = std::move(shape);
    form.alignment = std::move(alignment);
    form.base = std::move(base);
    form.dist = text_of(form.base.formats);
    return form;
}

bool Form::aligned() const {
    if (shape != base.shape) return true;
    for (std::size_t d = 0; d < alignment.size(); ++d) {
        Subscript identity{Subscript::Kind::index, static_cast<int>(d), 1, 0};
        if (!(alignment[d] == identity)) return true;
    }
    return false;
}

Shape Form::coordinates(std::int64_t rank) const {
    Shape result(base.procs.size());
    for (std::size_t g = result.size(); g-- > 0;) {
        result[g] = rank % base.procs[g];
        rank /= base.procs[g];
    }
    return result;
}

std::int64_t Form::rank(std::span<const std::int64_t> coordinates) const {
    std::int64_t result = 0;
    for (std::size_t g = 0; g < coordinates.size(); ++g)
        result = result * base.procs[g] + coordinates[g];
    return result;
}

bool Form::takes_part(std::span<const std::int64_t> coordinates) const {
    for (std::size_t g = 0; g < grid.size(); ++g)
        if (grid[g].kind == Role::Kind::fixed && coordinates[g] != grid[g].coordinate) return false;
    return true;
}

std::vector<IndexSet> Form::sets(std::int64_t rank) const {
    const Shape at = coordinates(rank);
    const bool here = takes_part(at);
    std::vector<IndexSet> result;
    result.reserve(axes.size());
    for (std::size_t d = 0; d < axes.size(); ++d)
        result.push_back(here ? held_by(axes[d], coordinate(d, at))
                              : IndexSet{axes[d].extent, axes[d].extent, {}});
    return result;
}

std::int64_t Form::copy_number(std::span<const std::int64_t> coordinates) const {
    std::int64_t result = 0;
    for (std::size_t g = 0; g < grid.size(); ++g)
        if (grid[g].kind == Role::Kind::copies) result = result * base.procs[g] + coordinates[g];
    return result;
}

void Form::check_rank(std::int64_t rank) const {
    if (rank < 0 || rank >= size)
        throw LayoutError("there is no process " + std::to_string(rank) + " in the layout " +
                          text_of(*this) + "; its processes are 0 to " + std::to_string(size - 1));
}

void Form::check_index(std::span<const std::int64_t> index) const {
    const Shape given(index.begin(), index.end());
    if (index.size() != shape.size())
        throw LayoutError("index " + text_of(given) + " has " + std::to_string(index.size()) +
                          " dimensions, but the shape " + text_of(shape) + " has " +
                          std::to_string(shape.size()));
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (index[d] < 0 || index[d] >= shape[d])
            throw LayoutError("index " + text_of(given) + " lies outside the shape " +
                              text_of(shape) + " in dimension " + std::to_string(d) +
                              "; indices start at 0 and stay below the extent");
}

}  // namespace hocket::layout
