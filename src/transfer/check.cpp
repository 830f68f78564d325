// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/check.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/overlap.hpp"
#include "base/text.hpp"
#include "kernel/box.hpp"
#include "layout/form.hpp"
#include "layout/interval.hpp"

namespace hocket::transfer {
namespace {

base::StridedBox box_of(const Array& array) {
    return {reinterpret_cast<std::intptr_t>(array.data()), array.local_shape(), array.strides(),
            array.dtype().size};
}

// The addresses of an array's elements; empty for an array without elements. A process that does
// not hold the element of shape () also has a local array of this shape.
layout::Range addresses_of(const Array& array) {
    const auto start = reinterpret_cast<std::intptr_t>(array.data());
    const std::int64_t process = array.process();
    if (process < 0 || (array.local_shape().empty() && array.layout().local_elements(process) == 0))
        return {start, start};
    layout::Range range{start, start + array.dtype().size};
    for (std::size_t d = 0; d < array.local_shape().size(); ++d) {
        const std::int64_t steps = array.local_shape()[d] - 1;
        if (steps < 0) return {start, start};
        (array.strides()[d] < 0 ? range.first : range.last) += steps * array.strides()[d];
    }
    return range;
}

}  // namespace

comm::Fault fault_in_writing(const Array& destination) {
    if (!destination.writable())
        return {"Error", "the receiving array is read-only; give one that may be written"};
    if (!kernel::is_dense(destination.local_shape(), destination.dtype().size,
                          destination.strides()) &&
        base::overlaps_itself(box_of(destination)))
        return {"Error", "elements of the receiving array overlap: shape " +
                             text::tuple(destination.local_shape()) + " with strides " +
                             text::tuple(destination.strides()) +
                             " bytes; give an array whose elements lie apart"};
    return {};
}

// Sorted by first address, so that each is compared with few others.
std::optional<std::pair<std::size_t, std::size_t>> sharing_memory(std::span<const Array> arrays) {
    std::vector<std::pair<layout::Range, std::size_t>> ranges;  // with the index of the array
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const layout::Range range = addresses_of(arrays[i]);
        if (range.first != range.last) ranges.push_back({range, i});
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.first.first < b.first.first; });
    for (auto a = ranges.begin(); a != ranges.end(); ++a)
        for (auto b = a + 1; b != ranges.end() && b->first.first < a->first.last; ++b)
            if (base::share_bytes(box_of(arrays[a->second]), box_of(arrays[b->second])))
                return std::minmax(a->second, b->second);
    return std::nullopt;
}

comm::Fault fault_between(const Array& source, const Array& destination) {
    if (comm::Fault fault = fault_in_writing(destination)) return fault;
    const layout::Range from = addresses_of(source), to = addresses_of(destination);
    if (from.first < to.last && to.first < from.last &&
        base::share_bytes(box_of(source), box_of(destination)))
        return {"Error",
                "the receiving array shares memory with the sending one; give it memory of its "
                "own"};
    return {};
}

comm::Fault fault_of_whole(const void* whole, const Shape& strides, const Array& local,
                           bool written) {
    const Shape& shape = local.layout().shape();
    const std::int64_t itemsize = local.dtype().size;
    if (!strides.empty() && strides.size() != shape.size())
        return {"Error", "the whole array has " + std::to_string(strides.size()) +
                             " strides, but the layout " + layout::label(local.layout().form()) +
                             " has " + std::to_string(shape.size()) +
                             " dimensions; give one stride a dimension, in bytes"};
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {};
    if (whole == nullptr)
        return {"Error",
                "the whole array is a null pointer on its root; give the address of its elements"};
    const Shape steps = strides.empty() ? dense_strides(shape, itemsize) : strides;
    const base::StridedBox box{reinterpret_cast<std::intptr_t>(whole), shape, steps, itemsize};
    if (!base::has_addresses(box))
        return {"Error", "strides " + text::tuple(steps) + " bytes of the whole array of shape " +
                             text::tuple(shape) +
                             " lead out of memory; give for each dimension the bytes from one "
                             "element to the next"};
    if (written && !strides.empty() && base::overlaps_itself(box))
        return {"Error", "elements of the whole array overlap: shape " + text::tuple(shape) +
                             " with strides " + text::tuple(steps) +
                             " bytes; give an array whose elements lie apart"};
    if (base::share_bytes(box, box_of(local)))
        return {"Error",
                "the whole array shares memory with the local one; give it memory of its "
                "own"};
    return {};
}

comm::Fault no_such_root(int root, int size) {
    return {"Error", "there is no process " + std::to_string(root) +
                         " to be the root: the communicator has processes 0 to " +
                         std::to_string(size - 1)};
}

}  // namespace hocket::transfer
