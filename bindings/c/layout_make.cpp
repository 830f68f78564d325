// SPDX-License-Identifier: BSD-3-Clause
// Creation of layouts.
#include <algorithm>
#include <cctype>

#include "handles.hpp"
#include "hocket/layout.hpp"

using namespace hocket::c;
using hocket::Format;
using hocket::Layout;
using hocket::Shape;

namespace {

Shape shape_of(std::int64_t dimensions, const std::int64_t* shape, const char* name = "shape") {
    const auto extents = by_dimension(dimensions, shape, name);
    return {extents.begin(), extents.end()};
}

/// "GEN_BLOCK" and "INDIRECT" with their values; other formats are text.
Format format_of(const std::string& text, std::span<const std::int64_t> values) {
    std::string name;
    for (const char c : text)
        name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (name == "GEN_BLOCK") return Format::gen_block(values);
    if (name == "INDIRECT") return Format::indirect(values);
    if (!values.empty())
        throw ArgumentError("format '" + text +
                            "' takes no values; only GEN_BLOCK and INDIRECT do");
    return Format(std::string_view(text));
}

}  // namespace

int hocket_layout_make(int64_t dimensions, const int64_t* shape, const char* dist,
                       int64_t arrangement, const int64_t* procs, int64_t copies,
                       const int64_t* replicate, hocket_layout** layout) {
    return guard(__func__, [&] {
        give(layout, Layout(shape_of(dimensions, shape), text_of(dist, "dist"),
                            shape_of(arrangement, procs, "procs"),
                            by_dimension(copies, replicate, "replicate")));
    });
}

int hocket_layout_make_formats(int64_t dimensions, const int64_t* shape,
                               const hocket_format* formats, int64_t arrangement,
                               const int64_t* procs, int64_t copies, const int64_t* replicate,
                               hocket_layout** layout) {
    return guard(__func__, [&] {
        std::vector<Format> made;
        for (const auto& [text, count, values] : by_dimension(dimensions, formats, "formats"))
            made.push_back(format_of(text_of(text, "text"), list(count, values, "values")));
        give(layout,
             Layout(shape_of(dimensions, shape), made, shape_of(arrangement, procs, "procs"),
                    by_dimension(copies, replicate, "replicate")));
    });
}

int hocket_layout_parse(const char* text, hocket_layout** layout) {
    return guard(__func__, [&] { give(layout, Layout::parse(text_of(text, "text"))); });
}

int hocket_layout_parse_with_shape(const char* text, int64_t dimensions, const int64_t* shape,
                                   hocket_layout** layout) {
    return guard(__func__, [&] {
        give(layout, Layout::parse(text_of(text, "text"), shape_of(dimensions, shape)));
    });
}

int hocket_layout_free(hocket_layout** layout) {
    return free_handle(__func__, layout);
}

int hocket_layout_aligned(int64_t dimensions, const int64_t* shape, const char* align,
                          const hocket_layout* target, hocket_layout** layout) {
    return guard(__func__, [&] {
        give(layout, Layout::aligned(shape_of(dimensions, shape), text_of(align, "align"),
                                     behind(target)->value));
    });
}

int hocket_layout_indexed(int64_t dimensions, const int64_t* shape, int64_t processes,
                          const int64_t* counts, const hocket_segment* segments,
                          hocket_layout** layout) {
    return guard(__func__, [&] {
        std::vector<std::vector<hocket::Segment>> lists;
        const hocket_segment* next = segments;
        for (const auto count : list(processes, counts, "counts")) {
            auto& own = lists.emplace_back();
            for (const auto& [first, length] :
                 list(count, next, "segments", most_in_memory<hocket_segment>()))
                own.push_back({first, length});
            if (next != nullptr) next += count;
        }
        give(layout, Layout::indexed(shape_of(dimensions, shape), lists));
    });
}

int hocket_layout_boxes(int64_t dimensions, const int64_t* shape, int64_t processes,
                        const int64_t* start, const int64_t* stop, hocket_layout** layout) {
    return guard(__func__, [&] {
        const Shape extents = shape_of(dimensions, shape);
        if (processes < 0 || processes > INT32_MAX)
            throw ArgumentError("there are " + std::to_string(processes) +
                                " processes; give 0 to " + std::to_string(INT32_MAX));
        // Without dimensions no list would be as long as a wrong number.
        if (constexpr int most = 1 << 20; dimensions == 0 && processes > most)
            throw ArgumentError("there are " + std::to_string(processes) +
                                " processes for one element; give " + std::to_string(most) +
                                " at most");
        const std::int64_t many = processes * dimensions;
        const auto starts = list(many, start, "start"), stops = list(many, stop, "stop");
        std::vector<hocket::IndexBox> boxes;
        for (std::size_t r = 0; r < static_cast<std::size_t>(processes); ++r) {
            const auto own_start = starts.subspan(r * extents.size(), extents.size());
            const auto own_stop = stops.subspan(r * extents.size(), extents.size());
            boxes.push_back(
                {{own_start.begin(), own_start.end()}, {own_stop.begin(), own_stop.end()}});
        }
        give(layout, Layout::boxes(extents, boxes));
    });
}

int hocket_layout_elements(int64_t dimensions, const int64_t* shape, int64_t processes,
                           const int64_t* counts, const int64_t* elements, hocket_layout** layout) {
    return guard(__func__, [&] {
        std::vector<std::vector<std::int64_t>> lists;
        const int64_t* next = elements;
        for (const auto count : list(processes, counts, "counts")) {
            const auto own = list(count, next, "elements", most_in_memory<std::int64_t>());
            lists.emplace_back(own.begin(), own.end());
            if (next != nullptr) next += count;
        }
        give(layout, Layout::elements(shape_of(dimensions, shape), lists));
    });
}

int hocket_layout_from_blacs(const int* desc, int64_t rows, int64_t columns,
                             const int64_t* processes, int64_t rank, bool transposed,
                             hocket_layout** layout) {
    return guard(__func__, [&] {
        hocket::BlacsDescriptor descriptor{};
        std::ranges::copy(list(9, desc, "desc"), descriptor.begin());
        hocket::BlacsGrid grid{rows, columns, {}};
        if (processes != nullptr) {
            std::int64_t many = 0;
            if (rows < 0 || __builtin_mul_overflow(rows, columns, &many))
                throw ArgumentError("the grid is " + std::to_string(rows) + " by " +
                                    std::to_string(columns));
            const auto named = list(many, processes, "processes", most_in_memory<std::int64_t>());
            grid.processes.assign(named.begin(), named.end());
        }
        give(layout, Layout::from_blacs(descriptor, grid, rank, transposed));
    });
}

int hocket_layout_from_hpf(const char* program, int64_t parameters, const hocket_parameter* given,
                           int64_t capacity, hocket_named_layout* values, int64_t* count) {
    return guard(__func__, [&] {
        std::vector<std::pair<std::string, std::int64_t>> known;
        for (const auto& [name, value] : list(parameters, given, "given"))
            known.emplace_back(text_of(name, "name"), value);
        const auto found = Layout::from_hpf(text_of(program, "program"), known);
        // Checks the capacity before it makes the first handle.
        write_list(std::vector<hocket_named_layout>(found.size()), capacity, values, count);
        for (std::size_t i = 0; values != nullptr && i < found.size(); ++i) {
            give(&values[i].layout, found[i].second);
            values[i].name = behind(values[i].layout)->keep(found[i].first);
        }
    });
}
