// SPDX-License-Identifier: BSD-3-Clause
#include "task/byte_order.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hocket::task {
namespace {

using Type = std::pair<std::string_view, std::int64_t>;  // its name, and bytes of an element
constexpr std::array numbers{
    Type{"bool", 1},      Type{"int8", 1},        Type{"uint8", 1},   Type{"int16", 2},
    Type{"uint16", 2},    Type{"int32", 4},       Type{"uint32", 4},  Type{"int64", 8},
    Type{"uint64", 8},    Type{"float16", 2},     Type{"float32", 4}, Type{"float64", 8},
    Type{"complex64", 8}, Type{"complex128", 16},
};

}  // namespace

std::int64_t number_bytes(const std::string& name, std::int64_t itemsize) {
    if (name.starts_with('\'') || name.starts_with('[')) return 1;
    if (std::find(numbers.begin(), numbers.end(), Type{name, itemsize}) == numbers.end()) return 0;
    return name.starts_with("complex") ? itemsize / 2 : itemsize;
}

comm::Fault fault_in_type(const DType& dtype) {
    if (number_bytes(dtype.name, dtype.size) > 0) return {};
    return {"Error", "elements of type " + dtype.name + ", of " + std::to_string(dtype.size) +
                         " bytes, cannot be converted for the other job, whose machine stores the "
                         "bytes of numbers in another order; use bool, int8 to int64, uint8 to "
                         "uint64, float16 to float64, complex64 or complex128, or a NumPy type "
                         "whose fields name their order"};
}

}  // namespace hocket::task
