// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/dtype.hpp"

#include <array>
#include <bit>
#include <optional>

#include "base/text.hpp"
#include "hocket/error.hpp"

static_assert(std::endian::native == std::endian::little);

namespace hocket::zarr {
namespace {

using Kind = DataType::Kind;

struct Family {
    std::string_view word;
    Kind kind;
    std::int64_t least, most;  // bits
};
constexpr std::array families{
    Family{"uint", Kind::natural, 8, 64}, Family{"int", Kind::integer, 8, 64},
    Family{"float", Kind::real, 16, 64}, Family{"complex", Kind::complex, 64, 128}};

[[noreturn]] void unknown(std::string_view name) {
    const std::string quote(name.starts_with('\'') ? "" : "'");  // NumPy's descriptions have some
    throw UnknownTypeError(
        "the data type " + quote + std::string(name) + quote +
        " is none of Zarr's core types; hocket stores bool, int8 to int64, uint8 to "
        "uint64, float16 to float64, complex64, complex128 and raw bits (r8, r16, ...)");
}

}  // namespace

std::int64_t DataType::unit() const {
    switch (kind) {
        case Kind::boolean:
        case Kind::raw:
            return 1;
        case Kind::complex:
            return size / 2;
        default:
            return size;
    }
}

std::string DataType::name() const {
    if (kind == Kind::raw) return "r" + std::to_string(8 * size);
    return numpy_name();
}

std::string DataType::numpy_name() const {
    if (kind == Kind::boolean) return "bool";
    if (kind == Kind::raw) return "|V" + std::to_string(size);
    for (const Family& family : families)
        if (family.kind == kind) return std::string(family.word) + std::to_string(8 * size);
    return {};
}

DataType type_of_name(std::string_view name) {
    if (name == "bool") return {Kind::boolean, 1};
    // NumPy's descriptions of raw bytes are quoted, because they have no name.
    std::string_view raw = name;
    if (raw.size() > 2 && raw.front() == '\'' && raw.back() == '\'')
        raw = raw.substr(1, raw.size() - 2);
    if (raw.substr(0, 2) == "|V") {
        const auto size = text::whole_number(raw.substr(2));
        if (size && *size > 0 && *size < (1 << 20)) return {Kind::raw, *size};
    }
    if (name.size() > 1 && name.front() == 'r') {
        const auto bits = text::whole_number(name.substr(1));
        if (bits && *bits > 0 && *bits % 8 == 0 && *bits < (1 << 23)) return {Kind::raw, *bits / 8};
    }
    for (const Family& family : families) {
        if (name.substr(0, family.word.size()) != family.word) continue;
        const auto bits = text::whole_number(name.substr(family.word.size()));
        if (bits && *bits >= family.least && *bits <= family.most &&
            std::has_single_bit(static_cast<std::uint64_t>(*bits)))
            return {family.kind, *bits / 8};
    }
    unknown(name);
}

DataType type_of_v2(std::string_view name, bool& big_endian) {
    const auto size = name.size() > 2 ? text::whole_number(name.substr(2)) : std::nullopt;
    if (!size || *size < 1 || *size >= (1 << 20)) unknown(name);
    big_endian = name[0] == '>';
    const std::string bits = std::to_string(8 * *size);
    switch (name[1]) {
        case 'b':
            if (*size == 1) return {Kind::boolean, 1};
            break;
        case 'i':
            return type_of_name("int" + bits);
        case 'u':
            return type_of_name("uint" + bits);
        case 'f':
            return type_of_name("float" + bits);
        case 'c':
            return type_of_name("complex" + bits);
        case 'V':
            return {Kind::raw, *size};
        default:
            break;
    }
    unknown(name);
}

}  // namespace hocket::zarr
