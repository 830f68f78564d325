// SPDX-License-Identifier: BSD-3-Clause
// Elements between jobs whose machines store the bytes of numbers in different orders.
#pragma once

#include <cstdint>
#include <string>

#include "comm/agree.hpp"
#include "hocket/array.hpp"

namespace hocket::task {

/// The bytes of each number of an element, as its type's name says: of a number itself, or of
/// either part of a complex one. 1 if the bytes mean the same everywhere: of NumPy's type in quotes
/// or brackets, whose name says the order. 0 if hocket does not know the type.
std::int64_t number_bytes(const std::string& name, std::int64_t itemsize);

/// The error of a type that hocket cannot convert.
comm::Fault fault_in_type(const DType& dtype);

}  // namespace hocket::task
