// SPDX-License-Identifier: BSD-3-Clause
// Implements metadata.hpp, dtype.hpp and values of hdf5.hpp in a build without nlohmann-json:
// errors that say so.
#ifndef HOCKET_JSON
#include "hocket/error.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr {
namespace {
[[noreturn]] void not_here() {
    throw Error(
        "hocket was built without nlohmann-json, which stores need; install it (Debian: "
        "nlohmann-json3-dev) and build again");
}
}  // namespace

Node parse_node(std::string_view /*json*/, const std::string& /*what*/) {
    not_here();
}
Metadata parse_v2(std::string_view /*zarray*/, std::string_view /*zattrs*/,
                  const std::string& /*what*/) {
    not_here();
}
std::string text_of(const Metadata& /*metadata*/) {
    not_here();
}
std::string text_of_group(const std::string& /*attributes*/,
                          std::span<const std::pair<std::string, std::string>> /*below*/) {
    not_here();
}
std::string checked_attributes(const std::string& /*json*/) {
    not_here();
}
Bytes fill_of_json(const std::string& /*json*/, const DataType& /*type*/) {
    not_here();
}
std::string json_of_fill(const Bytes& /*fill*/, const DataType& /*type*/) {
    not_here();
}

namespace hdf5 {

Held file_type(const DataType& /*type*/, bool /*big_endian*/) {
    not_here();
}
Held memory_type(const DataType& /*type*/, Id /*in_file*/) {
    not_here();
}
bool is_text(const std::string& /*text*/) {
    not_here();
}
DataType type_of(Id /*type*/, bool& /*big_endian*/) {
    not_here();
}
std::string attributes_of(Id /*object*/) {
    not_here();
}
void put_attributes(Id /*object*/, const std::string& /*json*/) {
    not_here();
}
void check_attributes(const std::string& /*json*/) {
    not_here();
}
std::vector<std::string> labels_of(Id /*dataset*/, std::size_t /*dimensions*/) {
    not_here();
}
void put_labels(Id /*dataset*/, const std::vector<std::string>& /*labels*/) {
    not_here();
}

}  // namespace hdf5
}  // namespace hocket::zarr
#endif
