// SPDX-License-Identifier: BSD-3-Clause
// Values of parameters, of which C has a function for each type.
#pragma once

#include <string>

#include "guard.hpp"
#include "hocket/observer.hpp"

namespace hocket::c {

inline double real_of(const Value& value, const std::string& name) {
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    throw Error("the parameter '" + name + "' is no number; ask for it as a text or an integer");
}

inline std::int64_t int_of(const Value& value, const std::string& name) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
    throw Error("the parameter '" + name + "' is no integer; ask for it as a real or a text");
}

inline const std::string& string_of(const Value& value, const std::string& name) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    throw Error("the parameter '" + name + "' is no text; ask for it as a real or an integer");
}

}  // namespace hocket::c
