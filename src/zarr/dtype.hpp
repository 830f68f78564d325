// SPDX-License-Identifier: BSD-3-Clause
// Zarr's data types: names, sizes, fill values (Zarr core specification 3.1, "Data types", "Fill
// value"; version 2, "Data type encoding").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/error.hpp"

namespace hocket::zarr {

struct DataType {
    enum class Kind { boolean, integer, natural, real, complex, raw };
    Kind kind = Kind::natural;
    std::int64_t size = 1;  ///< bytes of an element

    /// The number of bytes whose order the codec `bytes` determines; 1: none.
    std::int64_t unit() const;
    std::string numpy_name() const;  ///< "float64"; raw: "|V3"
    std::string name() const;        ///< Zarr 3's: "float64"; raw: "r24"
    friend bool operator==(const DataType&, const DataType&) = default;
};

/// A type outside of Zarr's core: other arrays of the store are of use.
struct UnknownTypeError : Error {
    using Error::Error;
};

/// @throws UnknownTypeError, which names the type.
DataType type_of_name(std::string_view name);                  ///< Zarr 3's, or NumPy's
DataType type_of_v2(std::string_view name, bool& big_endian);  ///< "<f8"

using Bytes = std::vector<std::byte>;

/// Converts one element in this machine's byte order from JSON, and back. JSON has no NaN, so
/// floats may be text: "NaN", "Infinity", "-Infinity", "0x7fc00000".
/// @throws Error for values that the type does not have.
Bytes fill_of_json(const std::string& json, const DataType& type);
std::string json_of_fill(const Bytes& fill, const DataType& type);
/// RFC 4648: how zarr-python and TensorStore write raw bits.
std::string base64_of(const Bytes& data);

}  // namespace hocket::zarr
