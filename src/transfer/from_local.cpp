// SPDX-License-Identifier: BSD-3-Clause
// Layouts from processes that know only their own parts.
#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"
#include "hocket/transfer.hpp"

namespace hocket {
namespace {

using Numbers = std::vector<std::int64_t>;

// Gathers the numbers of all processes on every process: first their counts, then the numbers, as
// arrays that become replicated.
std::vector<Numbers> share(const Comm& comm, const Numbers& mine, const Deadline& deadline) {
    const std::int64_t size = comm.size();
    const std::array<std::int64_t, 1> copies{0};
    RedistributeOptions options;
    options.deadline = deadline;
    const auto everywhere = [&](const Layout& from, const Numbers& own) {
        const auto source = Array::empty(from, dtype_of<std::int64_t>(), comm);
        std::copy(own.begin(), own.end(), static_cast<std::int64_t*>(source.data()));
        const Layout whole(from.shape(), "(*)", {size}, copies);
        const auto result = Array::empty(whole, dtype_of<std::int64_t>(), comm);
        redistribute(source, result, options);
        const auto* first = static_cast<const std::int64_t*>(result.data());
        return Numbers(first, first + whole.num_elements());
    };
    const Numbers counts =
        everywhere(Layout({size}, "(BLOCK)", {size}), {static_cast<std::int64_t>(mine.size())});
    std::int64_t total = 0;
    for (const std::int64_t count : counts) total += count;
    const std::array<Format, 1> blocks{Format::gen_block(counts)};
    const Numbers all = everywhere(Layout({total}, blocks, {size}), mine);
    std::vector<Numbers> result;
    auto next = all.begin();
    for (const std::int64_t count : counts) {
        result.emplace_back(next, next + count);
        next += count;
    }
    return result;
}

constexpr std::int64_t box = 0, list = 1;  // kinds of parts

// A part as numbers: its kind, the shape's dimensions and extents, and the rest.
struct Part {
    std::int64_t kind;
    Shape shape;
    Numbers rest;
};

std::vector<Part> share_parts(const Comm& comm, const Part& mine, const Deadline& deadline) {
    Numbers packed{mine.kind, static_cast<std::int64_t>(mine.shape.size())};
    packed.insert(packed.end(), mine.shape.begin(), mine.shape.end());
    packed.insert(packed.end(), mine.rest.begin(), mine.rest.end());
    std::vector<Part> parts;
    for (const Numbers& each : share(comm, packed, deadline)) {
        const auto shape = each.begin() + 2, rest = shape + each[1];
        parts.push_back({each[0], {shape, rest}, {rest, each.end()}});
    }
    for (std::size_t r = 1; r < parts.size(); ++r) {
        const std::string both = "processes 0 and " + std::to_string(r);
        if (parts[r].kind != parts[0].kind)
            throw LayoutError(both + " give a box and a list of elements; give the same kind");
        if (parts[r].shape != parts[0].shape)
            throw LayoutError(both + " give the shapes " + text::tuple(parts[0].shape) + " and " +
                              text::tuple(parts[r].shape) + "; give the same, or none");
    }
    return parts;
}

}  // namespace

Layout layout_from_local(const Comm& comm, const IndexBox& part, const Shape& shape,
                         Deadline deadline) {
    Part mine{box, shape, part.start};
    mine.rest.insert(mine.rest.end(), part.stop.begin(), part.stop.end());
    const std::vector<Part> parts = share_parts(comm, mine, deadline);
    std::vector<IndexBox> boxes;
    Shape least;
    for (const Part& each : parts) {
        const auto middle = each.rest.begin() + static_cast<std::ptrdiff_t>(each.rest.size() / 2);
        boxes.push_back({{each.rest.begin(), middle}, {middle, each.rest.end()}});
        least.resize(std::max(least.size(), boxes.back().stop.size()), 0);
        for (std::size_t d = 0; d < boxes.back().stop.size(); ++d)
            least[d] = std::max(least[d], boxes.back().stop[d]);
    }
    return Layout::boxes(shape.empty() ? least : shape, boxes);
}

Layout layout_from_local(const Comm& comm, std::span<const std::int64_t> elements,
                         const Shape& shape, Deadline deadline) {
    const Part mine{list, shape, {elements.begin(), elements.end()}};
    std::vector<Numbers> lists;
    std::int64_t least = 0;
    for (Part& each : share_parts(comm, mine, deadline)) {
        for (const std::int64_t element : each.rest) least = std::max(least, element + 1);
        lists.push_back(std::move(each.rest));
    }
    return Layout::elements(shape.empty() ? Shape{least} : shape, lists);
}

}  // namespace hocket
