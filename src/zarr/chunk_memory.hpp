// SPDX-License-Identifier: BSD-3-Clause
// A chunk in memory: the positions of its elements, and its bytes in a file.
#pragma once

#include <string>

#include "base/text.hpp"
#include "kernel/byte_order.hpp"
#include "zarr/boxes.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr {

inline std::string text_of_index(const Shape& index) {
    return text::tuple(index);
}

inline std::string path_of(const std::string& array, const std::string& key) {
    return array.empty() ? key : array + "/" + key;
}

/// The distance in bytes between neighbours along each dimension.
inline Shape chunk_strides(const Metadata& array) {
    Shape strides(array.chunk.size());
    std::int64_t stride = array.type.size;
    for (std::size_t k = strides.size(); k-- > 0;) {
        const std::size_t d = array.encoding.order[k];
        strides[d] = stride;
        stride *= array.chunk[d];
    }
    return strides;
}

inline bool must_swap(const Metadata& array) {
    return array.encoding.big_endian && array.type.unit() > 1;
}

/// Whether the bytes of elements in files equal those in memory.
inline bool is_plain(const Metadata& array) {
    return array.encoding.codecs.empty() && !must_swap(array);
}

inline Bytes decoded(const Metadata& array, Bytes data) {
    const std::int64_t bytes = array.chunk_bytes();
    data = decode(array.encoding.codecs, std::move(data), bytes);
    if (must_swap(array)) kernel::reverse_numbers(data.data(), bytes, array.type.unit());
    return data;
}

inline Bytes encoded(const Metadata& array, Bytes data) {
    if (must_swap(array))
        kernel::reverse_numbers(data.data(), array.chunk_bytes(), array.type.unit());
    return encode(array.encoding.codecs, std::move(data));
}

}  // namespace hocket::zarr
