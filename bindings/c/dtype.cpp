// SPDX-License-Identifier: BSD-3-Clause
#include "dtype.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "guard.hpp"

namespace hocket::c {
namespace {

// The size of a number type by NumPy's name: "float64" has 8 bytes. 0: unknown name.
std::int64_t size_of(std::string_view name) {
    if (name == "bool") return 1;
    for (const std::string_view kind : {"int", "uint", "float", "complex"}) {
        if (!name.starts_with(kind)) continue;
        const auto digits = name.substr(kind.size());
        int bits = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), bits);
        if (error != std::errc{} || end != digits.data() + digits.size()) continue;
        const int least = kind == "complex" ? 64 : kind == "float" ? 16 : 8;
        const int most = kind == "complex" ? 256 : kind == "float" ? 128 : 64;
        if (bits >= least && bits <= most && (bits & (bits - 1)) == 0) return bits / 8;
    }
    // x86's long double.
    return name == "float96" ? 12 : name == "complex192" ? 24 : 0;
}

}  // namespace

DType dtype_of_name(const char* name, std::int64_t itemsize) {
    const std::string text = text_of(name, "dtype");
    const std::int64_t known = size_of(text);
    if (itemsize == 0 && known == 0)
        throw ArgumentError("the size of a dtype '" + text +
                            "' is not known; give its itemsize, or a number type's name, as "
                            "\"float64\"");
    if (itemsize != 0 && known != 0 && itemsize != known)
        throw ArgumentError("'" + text + "' has " + std::to_string(known) +
                            " bytes, but itemsize is " + std::to_string(itemsize) +
                            "; give that, or 0");
    return {text, itemsize != 0 ? itemsize : known};
}

}  // namespace hocket::c
