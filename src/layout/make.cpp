// SPDX-License-Identifier: BSD-3-Clause
// Checks distributions and derives their values.
#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "layout/form.hpp"

namespace hocket::layout {

namespace {

void check_extents(const Template& base) {
    const Shape& shape = base.shape;
    for (const std::int64_t extent : shape)
        if (extent < 0)
            throw LayoutError("shape " + text_of(shape) + " has the negative extent " +
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
            throw LayoutError("replicate names position " + text::number(position) +
                              ", but procs " + text_of(base.procs) + " has positions " +
                              text::number(std::int64_t{0}) + " to " + text::number(ranks - 1));
        if (i > 0 && position == base.replicate[i - 1])
            throw LayoutError("replicate names position " + text::number(position) +
                              " twice; name each once");
    }
    const std::int64_t distributed = std::count_if(base.formats.begin(), base.formats.end(),
                                                   [](const Format& f) { return f.distributed(); });
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

/// Blocks of unequal extents, or none. @throws LayoutError if they do not fit.
std::shared_ptr<const Partition> partition_of(const Format& format, std::int64_t extent,
                                              std::int64_t procs, std::size_t d) {
    using Kind = Format::Kind;
    if (format.kind == Kind::balanced)
        return std::make_shared<const Partition>(Partition::balanced(extent, procs));
    if (!format.partition) return nullptr;
    const Partition& partition = *format.partition;
    const std::string dimension = "dimension " + text::number(d);
    if (format.kind == Kind::gen_block && partition.pieces() != procs)
        throw LayoutError("GEN_BLOCK has " + std::to_string(partition.pieces()) + " extents, but " +
                          dimension + " is distributed over " + std::to_string(procs) +
                          " processes; give one extent a process, 0 where it holds nothing");
    if (format.kind == Kind::gen_block && partition.extent() != extent)
        throw LayoutError("the extents of GEN_BLOCK add up to " +
                          std::to_string(partition.extent()) + ", but " + dimension + " has " +
                          std::to_string(extent) + " indices; make them add up to that");
    if (partition.extent() != extent)
        throw LayoutError("INDIRECT names the owners of " + std::to_string(partition.extent()) +
                          " indices, but " + dimension + " has " + std::to_string(extent) +
                          "; give one owner an index");
    for (std::int64_t k = 0; format.kind == Kind::indirect && k < partition.pieces(); ++k)
        if (partition.owner_of(k) >= procs)
            throw LayoutError("INDIRECT gives index " + text::number(partition.begin(k)) + " of " +
                              dimension + " to process " + std::to_string(partition.owner_of(k)) +
                              ", but the processes along it are 0 to " + std::to_string(procs - 1));
    return format.partition;
}

/// The block size of one dimension, as in HPF.
std::int64_t block_of(const Format& format, std::int64_t extent, std::int64_t procs,
                      std::size_t d) {
    if (format.size < 0)
        throw LayoutError("block size " + std::to_string(format.size) + " is negative");
    if (format.kind == Format::Kind::cyclic) return std::max<std::int64_t>(format.size, 1);
    if (format.size == 0)
        return std::max<std::int64_t>(extent / procs + (extent % procs != 0 ? 1 : 0), 1);
    if (base::product_up_to(format.size, procs, base::max_size) < extent)
        throw LayoutError("BLOCK(" + std::to_string(format.size) + ") on " + std::to_string(procs) +
                          " processes holds " + std::to_string(format.size * procs) + " of the " +
                          std::to_string(extent) + " indices of dimension " + text::number(d) +
                          "; use BLOCK(" +
                          std::to_string(extent / procs + (extent % procs != 0 ? 1 : 0)) +
                          ") or more, or CYCLIC(" + std::to_string(format.size) + ")");
    return format.size;
}

/// The template's own axes, and the roles of its arrangement, in terms of template dimensions.
std::vector<Axis> axes_of(const Template& base, std::vector<Role>& grid) {
    check_counts(base);
    std::vector<Axis> axes;
    int position = 0;
    const auto skip_copies = [&] {
        while (std::binary_search(base.replicate.begin(), base.replicate.end(), position)) {
            grid.push_back(
                {Role::Kind::copies, -1, 0, whole(base.procs[static_cast<std::size_t>(position)])});
            ++position;
        }
    };
    for (std::size_t d = 0; d < base.shape.size(); ++d) {
        Axis axis = axis_of({}, base.shape[d], 1, d);
        if (base.formats[d].distributed()) {
            skip_copies();
            axis = axis_of(base.formats[d], base.shape[d],
                           base.procs[static_cast<std::size_t>(position)], d);
            axis.grid = position++;
            grid.push_back({Role::Kind::dimension, static_cast<int>(d), 0, {}});
        }
        axes.push_back(axis);
    }
    skip_copies();
    return axes;
}

}  // namespace

Axis axis_of(const Format& format, std::int64_t extent, std::int64_t procs, std::size_t d) {
    Axis axis;
    axis.extent = extent;
    axis.procs = format.distributed() ? procs : 1;
    axis.partition = partition_of(format, extent, procs, d);
    axis.block = format.distributed() && !axis.partition ? block_of(format, extent, procs, d)
                                                         : std::max<std::int64_t>(extent, 1);
    return axis;
}

Form make_form(Template base) {
    std::sort(base.replicate.begin(), base.replicate.end());
    for (Format& format : base.formats)  // a normal form
        if (format.kind == Format::Kind::cyclic && format.size == 1) format.size = 0;
    // An undistributed array on one process may be written with procs of 1.
    const bool undistributed = std::all_of(base.formats.begin(), base.formats.end(),
                                           [](const Format& f) { return !f.distributed(); });
    if (undistributed && base.replicate.empty() && base.procs == Shape{1}) base.procs.clear();
    Form form;
    check_extents(base);
    form.axes = axes_of(base, form.grid);
    for (std::size_t d = 0; d < base.shape.size(); ++d)
        form.alignment.push_back({Subscript::Kind::index, static_cast<int>(d), 1, 0, 0});
    form.shape = base.shape;
    form.size = *base::product(base.procs);
    form.elements = *base::product(form.shape);
    for (const std::int64_t position : base.replicate)
        form.copies *= base.procs[static_cast<std::size_t>(position)];
    form.base = std::move(base);
    return form;
}

namespace {

/// A layout without a template.
Form make_form(Shape shape, std::size_t processes) {
    if (processes == 0)
        throw LayoutError(
            "the layout names no process; give one list or box a process, an empty one for a "
            "process that holds nothing");
    Form form;
    form.base.shape = shape;
    form.base.procs = {static_cast<std::int64_t>(processes)};
    check_extents(form.base);
    form.size = form.base.procs[0];
    form.elements = *base::product(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) form.axes.push_back(axis_of({}, shape[d], 1, d));
    form.shape = std::move(shape);
    return form;
}

}  // namespace

Form make_form(Shape shape, const std::vector<std::vector<Run>>& segments, bool listed) {
    Form form = make_form(std::move(shape), segments.size());
    form.segments = std::make_shared<const Segments>(form.elements, segments, listed);
    return form;
}

Form make_form(Shape shape, std::vector<ProcessBox> boxes) {
    Form form = make_form(std::move(shape), boxes.size());
    form.boxes = std::make_shared<const Boxes>(form.shape, std::move(boxes));
    return form;
}

Form make_form(Shape shape, std::int64_t size, std::vector<std::int64_t> processes,
               std::vector<ProcessBox> boxes) {
    Form form = make_form(std::move(shape), static_cast<std::size_t>(size));
    form.boxes = std::make_shared<const Boxes>(form.shape, std::move(processes), std::move(boxes));
    return form;
}

Form make_relabeled(const Form& form, std::span<const std::int64_t> ranks, std::int64_t size) {
    const Shape given(ranks.begin(), ranks.end());
    if (static_cast<std::int64_t>(ranks.size()) != form.size)
        throw LayoutError("the order names " + std::to_string(ranks.size()) +
                          " processes, but the layout has " + std::to_string(form.size) +
                          "; name a process for each");
    if (size == 0 && !given.empty()) size = *std::max_element(given.begin(), given.end()) + 1;
    std::unordered_map<std::int64_t, std::int64_t>
        before;  // process -> the process whose part it takes
    for (std::size_t r = 0; r < given.size(); ++r) {
        if (given[r] < 0 || given[r] >= size)
            throw LayoutError("the order names process " + std::to_string(given[r]) +
                              ", but the processes are 0 to " + std::to_string(size - 1));
        if (!before.emplace(given[r], static_cast<std::int64_t>(r)).second)
            throw LayoutError("the order names process " + std::to_string(given[r]) +
                              " twice; each may hold one part");
    }
    Form result = form;
    result.size = size;
    if (!form.gridded() && size > std::int64_t{1} << 28)
        throw LayoutError("a list or a box for each of " + std::to_string(size) +
                          " processes is too large; name fewer");
    if (form.boxes) {
        std::vector<ProcessBox> boxes(static_cast<std::size_t>(size), no_box(form.shape.size()));
        for (const auto& [process, old] : before)
            boxes[static_cast<std::size_t>(process)] = form.boxes->box(old);
        return make_form(form.shape, std::move(boxes));
    }
    if (form.indexed()) {
        std::vector<std::vector<Run>> lists(static_cast<std::size_t>(size));
        for (const auto& [process, old] : before)
            for (const Segment& segment : form.segments->in_order(old))
                lists[static_cast<std::size_t>(process)].push_back({segment.first, segment.length});
        return make_form(form.shape, lists, form.segments->listed());
    }
    auto order = std::make_shared<ProcessOrder>();
    const std::int64_t positions = *base::product(form.base.procs);
    bool moved = size != positions;
    for (std::int64_t p = 0; p < positions; ++p) {
        const std::int64_t process = given[static_cast<std::size_t>(form.process_at(p))];
        order->process.push_back(process);
        order->position.emplace(process, p);
        moved = moved || process != p;
    }
    result.order = moved ? std::move(order) : nullptr;
    return result;
}

}  // namespace hocket::layout
