// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/layout.hpp"

#include <limits>
#include <string>

#include "handles.hpp"
#include "slices.hpp"

using namespace hocket::c;
using hocket::Layout;

namespace {

std::span<const std::int64_t> index_of(const Layout& layout, const std::int64_t* index) {
    return list(static_cast<std::int64_t>(layout.dimensions()), index, "index");
}

const std::vector<std::int64_t>& along(std::int64_t dimension,
                                       const std::vector<std::vector<std::int64_t>>& lists) {
    if (dimension < 0 || dimension >= static_cast<std::int64_t>(lists.size()))
        throw ArgumentError("there is no such dimension: the local array has " +
                            std::to_string(lists.size()));
    return lists[static_cast<std::size_t>(dimension)];
}

}  // namespace

int hocket_layout_text(const hocket_layout* layout, const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        required(text, "text") = held->keep(held->value.text());
    });
}

int hocket_layout_dist(const hocket_layout* layout, const char** dist) {
    return guard(__func__, [&] { required(dist, "dist") = behind(layout)->value.dist().c_str(); });
}

int hocket_layout_dimensions(const hocket_layout* layout, int64_t* dimensions) {
    return guard(__func__, [&] {
        required(dimensions, "dimensions") =
            static_cast<std::int64_t>(behind(layout)->value.dimensions());
    });
}

int hocket_layout_shape(const hocket_layout* layout, int64_t capacity, int64_t* values,
                        int64_t* count) {
    return guard(__func__,
                 [&] { write_list(behind(layout)->value.shape(), capacity, values, count); });
}

int hocket_layout_procs(const hocket_layout* layout, int64_t capacity, int64_t* values,
                        int64_t* count) {
    return guard(__func__,
                 [&] { write_list(behind(layout)->value.procs(), capacity, values, count); });
}

int hocket_layout_replicate(const hocket_layout* layout, int64_t capacity, int64_t* values,
                            int64_t* count) {
    return guard(__func__,
                 [&] { write_list(behind(layout)->value.replicate(), capacity, values, count); });
}

int hocket_layout_size(const hocket_layout* layout, int64_t* processes) {
    return guard(__func__,
                 [&] { required(processes, "processes") = behind(layout)->value.size(); });
}

int hocket_layout_num_elements(const hocket_layout* layout, int64_t* elements) {
    return guard(__func__,
                 [&] { required(elements, "elements") = behind(layout)->value.num_elements(); });
}

int hocket_layout_is_indexed(const hocket_layout* layout, bool* indexed) {
    return guard(__func__,
                 [&] { required(indexed, "indexed") = behind(layout)->value.is_indexed(); });
}

int hocket_layout_local_shape(const hocket_layout* layout, int64_t rank, int64_t capacity,
                              int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(behind(layout)->value.local_shape(rank), capacity, values, count);
    });
}

int hocket_layout_local_elements(const hocket_layout* layout, int64_t rank, int64_t* elements) {
    return guard(__func__, [&] {
        required(elements, "elements") = behind(layout)->value.local_elements(rank);
    });
}

int hocket_layout_global_indices(const hocket_layout* layout, int64_t rank, int64_t dimension,
                                 int64_t capacity, int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        write_list(along(dimension, held->value.global_indices(rank)), capacity, values, count);
    });
}

int hocket_layout_slices(const hocket_layout* layout, int64_t rank, int64_t capacity,
                         hocket_slice* values, int64_t* count) {
    return guard(__func__, [&] {
        std::vector<hocket_slice> slices;
        for (const auto& [first, number, step, keep] : behind(layout)->value.slices(rank))
            slices.push_back({first, number, step, keep});
        write_list(slices, capacity, values, count);
    });
}

int hocket_layout_to_boxes(const hocket_layout* layout, int64_t* start, int64_t* stop) {
    return guard(__func__, [&] {
        int64_t *next_start = &required(start, "start"), *next_stop = &required(stop, "stop");
        for (const auto& box : behind(layout)->value.to_boxes()) {
            for (const auto index : box.start) *next_start++ = index;
            for (const auto index : box.stop) *next_stop++ = index;
        }
    });
}

int hocket_layout_to_blacs(const hocket_layout* layout, int64_t rank, int context, bool transposed,
                           int* desc) {
    return guard(__func__, [&] {
        int* next = &required(desc, "desc");
        const auto descriptor = behind(layout)->value.to_blacs(rank, context, transposed);
        for (const auto entry : descriptor)
            if (entry > std::numeric_limits<int>::max())
                throw hocket::LayoutError("the descriptor's entry " + std::to_string(entry) +
                                          " does not fit into an int of ScaLAPACK");
        for (const auto entry : descriptor) *next++ = static_cast<int>(entry);
    });
}

int hocket_layout_blacs_grid(const hocket_layout* layout, bool transposed, int64_t* rows,
                             int64_t* columns, int64_t capacity, int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto grid = behind(layout)->value.blacs_grid(transposed);
        required(rows, "rows") = grid.rows;
        required(columns, "columns") = grid.columns;
        write_list(grid.processes, capacity, values, count);
    });
}

int hocket_layout_section(const hocket_layout* layout, const hocket_slice* slices,
                          hocket_layout** section) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        give(section, held->value.section(slices_of(held->value, slices)));
    });
}

int hocket_layout_section_places(const hocket_layout* layout, const hocket_slice* slices,
                                 int64_t rank, int64_t dimension, int64_t capacity, int64_t* values,
                                 int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        const auto places = held->value.section_places(slices_of(held->value, slices), rank);
        write_list(along(dimension, places), capacity, values, count);
    });
}

int hocket_layout_relabeled(const hocket_layout* layout, const int64_t* ranks, int64_t size,
                            hocket_layout** relabeled) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        give(relabeled,
             held->value.relabeled(
                 list(held->value.size(), ranks, "ranks", most_in_memory<int64_t>()), size));
    });
}

int hocket_layout_owners(const hocket_layout* layout, const int64_t* index, int64_t capacity,
                         int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        write_list(held->value.owners(index_of(held->value, index)), capacity, values, count);
    });
}

int hocket_layout_owner(const hocket_layout* layout, const int64_t* index, int64_t* rank) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        required(rank, "rank") = held->value.owner(index_of(held->value, index));
    });
}

int hocket_layout_local_index(const hocket_layout* layout, const int64_t* index, int64_t capacity,
                              int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        write_list(held->value.local_index(index_of(held->value, index)), capacity, values, count);
    });
}

int hocket_layout_equal(const hocket_layout* a, const hocket_layout* b, bool* equal) {
    return guard(__func__,
                 [&] { required(equal, "equal") = behind(a)->value == behind(b)->value; });
}

int hocket_layout_hash(const hocket_layout* layout, uint64_t* hash) {
    return guard(__func__, [&] { required(hash, "hash") = behind(layout)->value.hash(); });
}
