// SPDX-License-Identifier: BSD-3-Clause
#include "dtype.hpp"

#include <string>

#include "guard.hpp"
#include "hocket/binding.hpp"

namespace hocket::c {
DType dtype_of_name(const char* name, std::int64_t itemsize) {
    const std::string text = text_of(name, "dtype");
    const std::int64_t known = Binding::number_bytes(text);
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
