// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/combine.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <type_traits>

#include "base/fold.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::kernel {

namespace {

const std::array<std::string, 6> ops{"add", "mul", "min", "max", "and", "or"};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

template <class Op, class T>
void combine(void* into, const void* from, std::int64_t count) {
    auto* to = static_cast<T*>(into);
    const auto* other = static_cast<const T*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = Op::of(to[i], other[i]);
}

template <class T>
Combine for_type(const std::string& op) {
    if (op == "add") return combine<fold::Add, T>;
    if (op == "mul") return combine<fold::Mul, T>;
    if constexpr (!is_complex<T>) {
        if (op == "min") return combine<fold::Min, T>;
        if (op == "max") return combine<fold::Max, T>;
        if constexpr (std::is_integral_v<T>) {
            if (op == "and") return combine<fold::And, T>;
            if (op == "or") return combine<fold::Or, T>;
        }
    }
    return nullptr;
}

struct Entry {
    std::string dtype;
    Combine (*find)(const std::string& op);
};
const std::array<Entry, 13> entries{{{"bool", for_type<bool>},
                                     {"int8", for_type<std::int8_t>},
                                     {"int16", for_type<std::int16_t>},
                                     {"int32", for_type<std::int32_t>},
                                     {"int64", for_type<std::int64_t>},
                                     {"uint8", for_type<std::uint8_t>},
                                     {"uint16", for_type<std::uint16_t>},
                                     {"uint32", for_type<std::uint32_t>},
                                     {"uint64", for_type<std::uint64_t>},
                                     {"float32", for_type<float>},
                                     {"float64", for_type<double>},
                                     {"complex64", for_type<std::complex<float>>},
                                     {"complex128", for_type<std::complex<double>>}}};

}  // namespace

Combine combine_of(const std::string& op, const std::string& dtype) {
    if (std::find(ops.begin(), ops.end(), op) == ops.end())
        throw Error("there is no operation '" + op + "'" + text::did_you_mean(op, ops) +
                    "; choose one of " + text::quoted_list(ops));
    for (const Entry& entry : entries) {
        if (entry.dtype != dtype) continue;
        if (const Combine found = entry.find(op)) return found;
        throw Error(
            "'" + op + "' is no operation of " + dtype +
            (op == "and" || op == "or" ? ", but of integers and bool" : ", which has no order") +
            "; reduce by 'add' or 'mul', or convert the array");
    }
    throw Error("arrays of " + dtype +
                " cannot be reduced; give one of bool, int8 to int64, uint8 to uint64, float32, "
                "float64, complex64, complex128");
}

}  // namespace hocket::kernel
