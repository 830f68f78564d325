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

// The parts of all processes, as numbers. All give the same kind and the same shape.
std::vector<Numbers> share_parts(const Comm& comm, std::int64_t kind, const Shape& shape,
                                 const Numbers& part, const Deadline& deadline) {
    Numbers packed{kind, static_cast<std::int64_t>(shape.size())};
    packed.insert(packed.end(), shape.begin(), shape.end());
    packed.insert(packed.end(), part.begin(), part.end());
    std::vector<Numbers> parts;
    Shape first;
    for (const Numbers& each : share(comm, packed, deadline)) {
        const auto begin = each.begin() + 2 + each[1];
        const Shape its(each.begin() + 2, begin);
        if (parts.empty()) {
            first = its;
            kind = each[0];
        }
        const std::string both = "processes 0 and " + std::to_string(parts.size());
        if (each[0] != kind)
            throw LayoutError(both + " give a box and a list of elements; give the same kind");
        if (its != first)
            throw LayoutError(both + " give the shapes " + text::tuple(first) + " and " +
                              text::tuple(its) + "; give the same, or none");
        parts.emplace_back(begin, each.end());
    }
    return parts;
}

}  // namespace

Layout layout_from_local(const Comm& comm, const IndexBox& part, const Shape& shape,
                         Deadline deadline) {
    Numbers corners(part.start.begin(), part.start.end());
    corners.insert(corners.end(), part.stop.begin(), part.stop.end());
    std::vector<IndexBox> boxes;
    Shape least;
    for (const Numbers& each : share_parts(comm, box, shape, corners, deadline)) {
        const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
        boxes.push_back({{each.begin(), middle}, {middle, each.end()}});
        least.resize(std::max(least.size(), boxes.back().stop.size()), 0);
        for (std::size_t d = 0; d < boxes.back().stop.size(); ++d)
            least[d] = std::max(least[d], boxes.back().stop[d]);
    }
    return Layout::boxes(shape.empty() ? least : shape, boxes);
}

Layout layout_from_local(const Comm& comm, std::span<const std::int64_t> elements,
                         const Shape& shape, Deadline deadline) {
    const std::vector<Numbers> lists =
        share_parts(comm, list, shape, {elements.begin(), elements.end()}, deadline);
    std::int64_t least = 0;
    for (const Numbers& each : lists)
        for (const std::int64_t element : each) least = std::max(least, element + 1);
    return Layout::elements(shape.empty() ? Shape{least} : shape, lists);
}

}  // namespace hocket
