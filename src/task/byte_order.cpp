// SPDX-License-Identifier: BSD-3-Clause
#include "task/byte_order.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace hocket::task {
namespace {

struct NumberType {
    std::string_view name;
    std::int64_t itemsize, number_bytes;
};
constexpr std::array numbers{
    NumberType{"bool", 1, 1},      NumberType{"int8", 1, 1},        NumberType{"uint8", 1, 1},
    NumberType{"int16", 2, 2},     NumberType{"uint16", 2, 2},      NumberType{"int32", 4, 4},
    NumberType{"uint32", 4, 4},    NumberType{"int64", 8, 8},       NumberType{"uint64", 8, 8},
    NumberType{"float16", 2, 2},   NumberType{"float32", 4, 4},     NumberType{"float64", 8, 8},
    NumberType{"complex64", 8, 4}, NumberType{"complex128", 16, 8},
};

}  // namespace

std::int64_t number_bytes(const std::string& name, std::int64_t itemsize) {
    if (name.starts_with('\'') || name.starts_with('[')) return 1;
    const auto* const found = std::find_if(
        numbers.begin(), numbers.end(),
        [&](const NumberType& each) { return each.name == name && each.itemsize == itemsize; });
    return found == numbers.end() ? 0 : found->number_bytes;
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
