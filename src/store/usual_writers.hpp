// SPDX-License-Identifier: BSD-3-Clause
// The default number of processes that write: from the measurement of `hocket calibrate`.
#pragma once

#include <cstdint>

#include "comm/link.hpp"

namespace hocket::store {

/// The measured number of writers on a node, in the file beside the model of messages; 0: there is
/// no measurement. @throws Error for a file without a number.
std::int64_t kept_writers();
/// The number of different nodes of a link's processes.
std::int64_t count_nodes(const comm::Link& link);

}  // namespace hocket::store
