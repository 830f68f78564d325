// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/local_view.hpp"

#include "transfer/cut.hpp"

namespace hocket::transfer {

LocalView local_view_of(const Array& array) {
    return {array.process(), array.strides(),
            array.strides() == dense_strides(array.local_shape(), array.dtype().size)};
}

std::int64_t local_bytes(const Layout& layout, const LocalView& view, std::int64_t itemsize) {
    return view.process < 0 ? 0 : layout.local_elements(view.process) * itemsize;
}

std::vector<transport::LocalCopy> copies_of(const plan::Part& part, std::size_t peer, bool sending,
                                            const LocalView& view, std::int64_t itemsize,
                                            std::int64_t buffer_offset) {
    std::vector<transport::LocalCopy> copies;
    for (const auto& box : part.boxes(peer)) {
        const Strided strided(box, itemsize);
        if (sending)
            copies.push_back(
                {{strided.extents, itemsize, strided.in_source(view.strides), strided.dense},
                 strided.source_offset(view.strides),
                 buffer_offset});
        else
            copies.push_back(
                {{strided.extents, itemsize, strided.dense, strided.in_destination(view.strides)},
                 buffer_offset,
                 strided.destination_offset(view.strides)});
        buffer_offset += strided.elements * itemsize;
    }
    return copies;
}

}  // namespace hocket::transfer
