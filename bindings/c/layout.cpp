// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/layout.hpp"

#include "handles.hpp"

using namespace hocket::c;
using hocket::Layout;
using hocket::Shape;

namespace {

Shape shape_of(std::int64_t dimensions, const std::int64_t* shape, const char* name = "shape") {
    const auto extents = list(dimensions, shape, name);
    return {extents.begin(), extents.end()};
}

std::span<const std::int64_t> index_of(const Layout& layout, const std::int64_t* index) {
    return list(static_cast<std::int64_t>(layout.dimensions()), index, "index");
}

}  // namespace

int hocket_layout_make(int64_t dimensions, const int64_t* shape, const char* dist,
                       int64_t arrangement, const int64_t* procs, int64_t copies,
                       const int64_t* replicate, hocket_layout** layout) {
    return guard(__func__, [&] {
        give(layout,
             Layout(shape_of(dimensions, shape), text_of(dist, "dist"),
                    shape_of(arrangement, procs, "procs"), list(copies, replicate, "replicate")));
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
                 [&] { hand_out(behind(layout)->value.shape(), capacity, values, count); });
}

int hocket_layout_procs(const hocket_layout* layout, int64_t capacity, int64_t* values,
                        int64_t* count) {
    return guard(__func__,
                 [&] { hand_out(behind(layout)->value.procs(), capacity, values, count); });
}

int hocket_layout_replicate(const hocket_layout* layout, int64_t capacity, int64_t* values,
                            int64_t* count) {
    return guard(__func__,
                 [&] { hand_out(behind(layout)->value.replicate(), capacity, values, count); });
}

int hocket_layout_size(const hocket_layout* layout, int64_t* processes) {
    return guard(__func__,
                 [&] { required(processes, "processes") = behind(layout)->value.size(); });
}

int hocket_layout_elements(const hocket_layout* layout, int64_t* elements) {
    return guard(__func__,
                 [&] { required(elements, "elements") = behind(layout)->value.elements(); });
}

int hocket_layout_local_shape(const hocket_layout* layout, int64_t rank, int64_t capacity,
                              int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        hand_out(behind(layout)->value.local_shape(rank), capacity, values, count);
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
        const auto dimensions = static_cast<std::int64_t>(held->value.dimensions());
        if (dimension < 0 || dimension >= dimensions)
            throw ArgumentError("there is no dimension " + std::to_string(dimension) +
                                ": the layout " + held->value.text() + " has " +
                                std::to_string(dimensions));
        hand_out(held->value.global_indices(rank)[static_cast<std::size_t>(dimension)], capacity,
                 values, count);
    });
}

int hocket_layout_owners(const hocket_layout* layout, const int64_t* index, int64_t capacity,
                         int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        hand_out(held->value.owners(index_of(held->value, index)), capacity, values, count);
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
        hand_out(held->value.local_index(index_of(held->value, index)), capacity, values, count);
    });
}

int hocket_layout_equal(const hocket_layout* a, const hocket_layout* b, bool* equal) {
    return guard(__func__,
                 [&] { required(equal, "equal") = behind(a)->value == behind(b)->value; });
}

int hocket_layout_hash(const hocket_layout* layout, uint64_t* hash) {
    return guard(__func__, [&] { required(hash, "hash") = behind(layout)->value.hash(); });
}
