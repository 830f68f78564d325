// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/place.hpp"

#include "transfer/cut.hpp"

namespace hocket::transfer {

Place place_on(const Array& array) {
    return {array.process(), array.strides(),
            array.strides() == dense_strides(array.local_shape(), array.dtype().size)};
}

std::int64_t local_bytes(const Layout& layout, const Place& place, std::int64_t itemsize) {
    return place.process < 0 ? 0 : layout.local_elements(place.process) * itemsize;
}

std::vector<Piece> pieces_of(const plan::Part& part, std::size_t peer, bool sending,
                             const Place& place, std::int64_t itemsize,
                             std::int64_t buffer_offset) {
    std::vector<Piece> pieces;
    for (const auto& box : part.boxes(peer)) {
        const Strided strided(box, itemsize);
        const Shape array =
            sending ? strided.in_source(place.strides) : strided.in_destination(place.strides);
        const std::int64_t array_offset = sending ? strided.source_offset(place.strides)
                                                  : strided.destination_offset(place.strides);
        kernel::Copy copy(strided.extents, itemsize, sending ? array : strided.dense,
                          sending ? strided.dense : array);
        pieces.push_back({std::move(copy), array_offset, buffer_offset});
        buffer_offset += strided.elements * itemsize;
    }
    return pieces;
}

}  // namespace hocket::transfer
