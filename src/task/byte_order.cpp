// SPDX-License-Identifier: BSD-3-Clause
#include "task/byte_order.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace hocket::task {
namespace {

struct Number {
    std::string_view name;
    std::int64_t itemsize, number_bytes;
};
constexpr std::array numbers{
    Number{"bool", 1, 1},      Number{"int8", 1, 1},        Number{"uint8", 1, 1},
    Number{"int16", 2, 2},     Number{"uint16", 2, 2},      Number{"int32", 4, 4},
    Number{"uint32", 4, 4},    Number{"int64", 8, 8},       Number{"uint64", 8, 8},
    Number{"float16", 2, 2},   Number{"float32", 4, 4},     Number{"float64", 8, 8},
    Number{"complex64", 8, 4}, Number{"complex128", 16, 8},
};

}  // namespace

std::int64_t number_bytes(const std::string& name, std::int64_t itemsize) {
    if (name.starts_with('\'') || name.starts_with('[')) return 1;
    const auto* const found = std::find_if(numbers.begin(), numbers.end(), [&](const Number& each) {
        return each.name == name && each.itemsize == itemsize;
    });
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
