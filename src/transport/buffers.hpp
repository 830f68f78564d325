// SPDX-License-Identifier: BSD-3-Clause
// The bound on the buffers of a transfer.
#pragma once

#include <cstdint>
#include <optional>

namespace hocket::transport {

/// The default bound on a transfer's buffers: HOCKET_MAX_BUFFER, or 256 MiB.
/// @throws Error for a value that is too small.
std::int64_t default_buffers();
/// The value of HOCKET_MAX_BUFFER, if it is set. @throws Error as default_buffers.
std::optional<std::int64_t> requested_buffers();
/// @throws Error for a bound that is too small.
void require_enough(std::int64_t max_buffer);

}  // namespace hocket::transport
