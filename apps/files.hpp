// SPDX-License-Identifier: BSD-3-Clause
// Results that a program writes for its check.
#pragma once

#include <string>

#include "hocket/array.hpp"

namespace apps {

/// Collects `array` on its communicator's process 0, which appends it to the file. Collective.
void append(const std::string& path, const hocket::Array& array);

}  // namespace apps
