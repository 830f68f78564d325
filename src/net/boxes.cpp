// SPDX-License-Identifier: BSD-3-Clause
#include "net/boxes.hpp"

#include <cstddef>
#include <cstring>

#include "hocket/kernel.hpp"

namespace hocket::net {
namespace {

// Indices first, first + step, ...; the first of them is the list's `at`th.
struct Run {
    std::int64_t first, step, count, at;
};

std::vector<Run> runs_of(const std::vector<std::int64_t>& list) {
    std::vector<Run> runs;
    for (std::size_t k = 0; k < list.size();) {
        Run run{list[k], 1, 1, static_cast<std::int64_t>(k)};
        std::size_t next = k + 1;
        if (next < list.size()) run.step = list[next] - list[k];
        while (next < list.size() && list[next] - list[next - 1] == run.step) ++next, ++run.count;
        k = next;
        runs.push_back(run);
    }
    return runs;
}

// Calls act(extents, strides of the array and of the packed elements, first byte in both) for each
// box of the product of all dimensions' runs.
template <class Act>
void for_each_box(const IndexLists& lists, std::int64_t itemsize, const Shape& strides, Act act) {
    const std::size_t dimensions = lists.size();
    Shape shape;
    std::vector<std::vector<Run>> runs;
    for (const auto& list : lists) {
        if (list.empty()) return;
        shape.push_back(static_cast<std::int64_t>(list.size()));
        runs.push_back(runs_of(list));
    }
    const Shape packed = dense(shape, itemsize);
    std::vector<std::size_t> chosen(dimensions, 0);
    for (;;) {
        Shape extents(dimensions), in_array(dimensions);
        std::int64_t array_first = 0, packed_first = 0;
        for (std::size_t d = 0; d < dimensions; ++d) {
            const Run& run = runs[d][chosen[d]];
            extents[d] = run.count;
            in_array[d] = strides[d] * run.step;
            array_first += strides[d] * run.first;
            packed_first += packed[d] * run.at;
        }
        act(extents, in_array, packed, array_first, packed_first);
        std::size_t d = dimensions;
        while (d > 0 && ++chosen[d - 1] == runs[d - 1].size()) chosen[--d] = 0;
        if (d == 0) return;
    }
}

// Elements of a vector from one memory to another: to copy a few elements is quicker than to find
// the best way to copy them. Calls act(first element in the array, in the packed ones, count,
// step).
template <class Act>
void for_each_run(const std::vector<std::int64_t>& list, Act act) {
    for (const Run& run : runs_of(list)) {
        constexpr std::int64_t few = 8;
        if (run.count > few)
            act(run.first, run.at, run.count, run.step);
        else
            for (std::int64_t k = 0; k < run.count; ++k)
                act(run.first + k * run.step, run.at + k, std::int64_t{1}, std::int64_t{1});
    }
}

void copy_vector(std::int64_t count, std::int64_t itemsize, std::int64_t from_stride,
                 std::int64_t to_stride, const std::byte* from, std::byte* to) {
    if (count == 1)
        std::memcpy(to, from, static_cast<std::size_t>(itemsize));
    else
        kernel::Copy(Shape{count}, itemsize, Shape{from_stride}, Shape{to_stride}).run(from, to);
}

}  // namespace

Shape dense(const Shape& shape, std::int64_t itemsize) {
    Shape strides(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; itemsize *= shape[d]) strides[d] = itemsize;
    return strides;
}

void pack(const IndexLists& lists, std::int64_t itemsize, const void* array, const Shape& strides,
          void* packed) {
    const auto* const from_first = static_cast<const std::byte*>(array);
    auto* const to_first = static_cast<std::byte*>(packed);
    if (lists.size() == 1)
        return for_each_run(lists[0], [&](std::int64_t first, std::int64_t at, std::int64_t count,
                                          std::int64_t step) {
            copy_vector(count, itemsize, step * strides[0], itemsize,
                        from_first + first * strides[0], to_first + at * itemsize);
        });
    for_each_box(lists, itemsize, strides,
                 [&](const Shape& extents, const Shape& in_array, const Shape& in_packed,
                     std::int64_t from, std::int64_t to) {
                     kernel::Copy(extents, itemsize, in_array, in_packed)
                         .run(from_first + from, to_first + to);
                 });
}

std::optional<Box> box_of(const std::vector<std::optional<Slice>>& slices, const Shape& strides) {
    Box box;
    for (std::size_t d = 0; d < slices.size(); ++d) {
        if (!slices[d]) return std::nullopt;
        box.first += slices[d]->first * strides[d];
        box.extents.push_back(slices[d]->count);
        box.strides.push_back(slices[d]->step * strides[d]);
    }
    return box;
}

void unpack(const IndexLists& lists, std::int64_t itemsize, const void* packed, void* array,
            const Shape& strides) {
    const auto* const from_first = static_cast<const std::byte*>(packed);
    auto* const to_first = static_cast<std::byte*>(array);
    if (lists.size() == 1)
        return for_each_run(lists[0], [&](std::int64_t first, std::int64_t at, std::int64_t count,
                                          std::int64_t step) {
            copy_vector(count, itemsize, itemsize, step * strides[0], from_first + at * itemsize,
                        to_first + first * strides[0]);
        });
    for_each_box(lists, itemsize, strides,
                 [&](const Shape& extents, const Shape& in_array, const Shape& in_packed,
                     std::int64_t to, std::int64_t from) {
                     kernel::Copy(extents, itemsize, in_packed, in_array)
                         .run(from_first + from, to_first + to);
                 });
}

}  // namespace hocket::net
