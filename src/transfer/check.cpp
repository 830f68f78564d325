// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/check.hpp"

#include <utility>

namespace hocket::transfer {
namespace {

// The bytes from the lowest to behind the highest that an array touches.
std::pair<std::intptr_t, std::intptr_t> extent_of(const Array& array) {
    const auto start = reinterpret_cast<std::intptr_t>(array.data());
    std::intptr_t low = start, high = start + array.dtype().size;
    for (std::size_t d = 0; d < array.local_shape().size(); ++d) {
        const std::int64_t extent = array.local_shape()[d];
        if (extent == 0) return {start, start};
        const std::int64_t reach = (extent - 1) * array.strides()[d];
        (reach < 0 ? low : high) += reach;
    }
    return {low, high};
}

}  // namespace

comm::Fault fault_in_writing(const Array& destination) {
    if (destination.writable()) return {};
    return {"Error", "the receiving array is read-only; give one that may be written"};
}

comm::Fault fault_between(const Array& source, const Array& destination, bool transposed) {
    if (comm::Fault fault = fault_in_writing(destination)) return fault;
    if (!transposed && source.data() == destination.data() &&
        source.strides() == destination.strides() && source.layout() == destination.layout())
        return {};
    const auto [a, a_end] = extent_of(source);
    const auto [b, b_end] = extent_of(destination);
    if (a < b_end && b < a_end)
        return {"Error",
                "the receiving array lies in the same range of memory as the sending one; give it "
                "memory "
                "of its own"};
    return {};
}

comm::Fault no_such_root(int root, int size) {
    return {"Error", "there is no process " + std::to_string(root) +
                         " to be the root: the communicator has processes 0 to " +
                         std::to_string(size - 1)};
}

}  // namespace hocket::transfer
