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

std::vector<kernel::OffsetCopy> copies_of(const plan::Part& part, std::size_t peer, bool sending,
                                          const LocalView& view, std::int64_t itemsize,
                                          std::int64_t buffer_offset) {
    std::vector<kernel::OffsetCopy> copies;
    const Shape *source = sending ? &view.strides : nullptr,
                *destination = sending ? nullptr : &view.strides;
    for (const auto& box : part.boxes(peer)) {
        copies.push_back(copy_of(box, itemsize, source, destination, buffer_offset));
        buffer_offset += copies.back().copy.bytes();
    }
    return copies;
}

}  // namespace hocket::transfer
