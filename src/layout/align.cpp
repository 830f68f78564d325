// SPDX-License-Identifier: BSD-3-Clause
// Alignment with a template, HPF 1.0 section 3.4: composes subscripts with those of the template.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "layout/form.hpp"

namespace hocket::layout {

namespace {

std::string text_of(const Subscript& s) {
    std::string result = s.stride == 1 ? "i" : std::to_string(s.stride) + "*i";
    if (s.stride == -1) result = "-i";
    const auto first = static_cast<std::uint64_t>(text::first_index());
    const auto offset = text::shifted(
        s.offset, static_cast<std::int64_t>(first - static_cast<std::uint64_t>(s.stride) * first));
    if (offset != 0) result += (offset < 0 ? "" : "+") + std::to_string(offset);
    return result;
}

void check_subscript(const Subscript& s, const Shape& shape, const Shape& target, std::size_t d,
                     std::vector<bool>& used) {
    const std::int64_t extent = target[d];
    const std::string where =
        " of dimension " + text::number(d) + " of the template " + layout::text_of(target);
    const auto leaves = [&](base::wide position) { return position < 0 || position >= extent; };
    if (s.kind == Subscript::Kind::any) return;
    if (s.kind == Subscript::Kind::constant) {
        if (leaves(s.offset))
            throw LayoutError("subscript " + text::number(s.offset) + where + " leaves it; use " +
                              text::number(std::int64_t{0}) + " to " + text::number(extent - 1));
        return;
    }
    if (s.dimension < 0 || static_cast<std::size_t>(s.dimension) >= shape.size())
        throw LayoutError("a subscript names array dimension " +
                          text::number(std::int64_t{s.dimension}) + ", but the array " +
                          layout::text_of(shape) + " has " + std::to_string(shape.size()) +
                          " dimensions");
    const auto dimension = static_cast<std::size_t>(s.dimension);
    if (used[dimension])
        throw LayoutError("array dimension " + text::number(dimension) +
                          " is aligned with two template dimensions; use each dummy once");
    used[dimension] = true;
    if (s.stride == 0)
        throw LayoutError("subscript " + text::number(s.offset) + where +
                          " has stride 0; write a constant, or a stride other than 0");
    if (shape[dimension] == 0) return;
    const std::int64_t last_index = shape[dimension] - 1;
    const base::wide last = static_cast<base::wide>(s.stride) * last_index + s.offset;
    if (leaves(s.offset) || leaves(last))
        throw LayoutError("subscript " + text_of(s) + where +
                          " leaves it at i = " + text::number(leaves(s.offset) ? 0 : last_index) +
                          "; make the template larger, or the array " + layout::text_of(shape) +
                          " smaller");
}

/// `outer` applied to the result of `inner`; the caller has checked that positions fit.
Subscript compose(const Subscript& outer, const Subscript& inner) {
    Subscript result = inner;
    result.stride = outer.stride * inner.stride;
    result.offset = outer.stride * inner.offset + outer.offset;
    return result;
}

/// Coordinates that own at least one position of an `any` subscript.
IndexSet holders_of(const Subscript& s, Axis axis) {
    axis.extent = s.count;
    axis.stride = s.stride;
    axis.offset = s.offset;
    const std::int64_t p = axis.procs;
    if (s.count == 0) return {p, p, {}};
    std::vector<std::int64_t> owners;
    const auto as_set = [&] {
        std::sort(owners.begin(), owners.end());
        owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
        std::vector<Run> runs;
        for (const std::int64_t c : owners) {
            if (!runs.empty() && runs.back().first + runs.back().length == c)
                ++runs.back().length;
            else
                runs.push_back({c, 1});
        }
        return IndexSet(p, p, std::move(runs));
    };
    if (axis.partition) {
        const auto [low, high] = std::minmax({axis.position(0), axis.position(s.count - 1)});
        for (std::int64_t k = axis.partition->piece_at(low); k <= axis.partition->piece_at(high);
             ++k)
            if (axis.indices(axis.partition->begin(k), axis.partition->begin(k + 1)).length > 0)
                owners.push_back(axis.partition->owner_of(k));
        return as_set();
    }
    const std::int64_t first = s.offset / axis.block;
    const std::int64_t last = (s.offset + s.stride * (s.count - 1)) / axis.block;
    const std::int64_t blocks = std::abs(last - first) + 1;
    if (std::abs(s.stride) <= axis.block && blocks >= p) return whole(p);
    if (std::abs(s.stride) <= axis.block) {  // no block is skipped: consecutive coordinates
        const std::int64_t begin = std::min(first, last) % p, end = begin + blocks;
        if (end <= p) return {p, p, {{begin, blocks}}};
        return {p, p, {{0, end - p}, {begin, p - begin}}};
    }
    if (std::min(s.count, p) > std::int64_t{1} << 20)  // a few bytes of a message may ask for it
        throw LayoutError("copies at every " + std::to_string(s.stride) + "th of " +
                          std::to_string(s.count) + " template positions over " +
                          std::to_string(p) +
                          " processes are too scattered to keep; use fewer "
                          "processes, or a step within one block");
    if (s.count <= p) {
        for (std::int64_t j = 0; j < s.count; ++j) owners.push_back(axis.owner(j));
    } else {
        for (std::int64_t c = 0; c < p; ++c)
            if (!held_by(axis, c).empty()) owners.push_back(c);
    }
    return as_set();
}

/// The subscripts for the target's own template, if the target is itself aligned.
std::vector<Subscript> onto_base(const std::vector<Subscript>& alignment, const Form& target) {
    std::vector<Subscript> result = target.alignment;
    for (Subscript& s : result) {
        if (s.kind != Subscript::Kind::index) continue;
        const auto t = static_cast<std::size_t>(s.dimension);
        const Subscript& inner = alignment[t];
        s = compose(s, inner);
        if (s.kind == Subscript::Kind::constant) s.stride = 1;
    }
    return result;
}

}  // namespace

void check_alignment(const Shape& shape, std::vector<Subscript>& alignment, const Form& target) {
    for (const std::int64_t extent : shape)
        if (extent < 0)
            throw LayoutError("shape " + layout::text_of(shape) + " has the negative extent " +
                              std::to_string(extent) + "; extents are 0 or more");
    const auto elements = base::product(shape);
    if (!elements)
        throw LayoutError("shape " + layout::text_of(shape) +
                          " has more than 2^63 - 1 elements; make an extent smaller");
    if (alignment.size() != target.shape.size())
        throw LayoutError("the alignment has " + std::to_string(alignment.size()) +
                          " subscripts, but the template " + layout::text_of(target.shape) +
                          " has " + std::to_string(target.shape.size()) + " dimensions");
    std::vector<bool> used(shape.size(), false);
    for (std::size_t t = 0; t < alignment.size(); ++t) {
        Subscript& s = alignment[t];
        check_subscript(s, shape, target.shape, t, used);
        if (s.kind == Subscript::Kind::any && target.shape[t] == 0 && *elements > 0)
            throw LayoutError("'*' along dimension " + text::number(t) + " of the template " +
                              layout::text_of(target.shape) +
                              " names no position; make that extent 1 or more");
        // With at most one index, strides have no effect.
        if (s.kind != Subscript::Kind::index) continue;
        if (shape[static_cast<std::size_t>(s.dimension)] <= 1) s.stride = 1;
        if (shape[static_cast<std::size_t>(s.dimension)] == 0) s.offset = 0;
    }
}

Form make_form(Shape shape, std::vector<Subscript> alignment, const Form& target) {
    check_alignment(shape, alignment, target);
    Form form;
    form.base = target.base;
    form.order = target.order;
    form.size = target.size;
    form.elements = *base::product(shape);
    form.grid = target.grid;
    form.alignment = onto_base(alignment, target);
    for (const std::int64_t extent : shape) {
        Axis axis;
        axis.extent = extent;
        axis.block = std::max<std::int64_t>(extent, 1);
        form.axes.push_back(axis);
    }
    const std::vector<Axis> base_axes = make_form(Template(target.base)).axes;
    for (std::size_t d = 0; d < form.alignment.size(); ++d) {
        Subscript& s = form.alignment[d];
        const Axis& from = base_axes[d];
        Role role;
        if (s.kind == Subscript::Kind::index) {
            Axis& axis = form.axes[static_cast<std::size_t>(s.dimension)];
            if (axis.extent <= 1) s.stride = 1;
            if (axis.extent == 0) s.offset = 0;
            axis = from;
            axis.extent = shape[static_cast<std::size_t>(s.dimension)];
            axis.stride = s.stride;
            axis.offset = s.offset;
            role = {Role::Kind::dimension, s.dimension, 0, {}};
        } else if (s.kind == Subscript::Kind::constant) {
            role = {Role::Kind::fixed, -1, from.owner(s.offset), {}};
        } else if (from.grid >= 0) {
            role = {Role::Kind::copies, -1, 0, holders_of(s, from)};
        }
        if (from.grid >= 0) form.grid[static_cast<std::size_t>(from.grid)] = std::move(role);
    }
    for (const Role& role : form.grid)
        if (role.kind == Role::Kind::copies) form.copies *= role.holders.count();
    form.shape = std::move(shape);
    return form;
}

}  // namespace hocket::layout
