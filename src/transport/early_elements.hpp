// SPDX-License-Identifier: BSD-3-Clause
// Messages whose elements travel before their call is agreed on: with the text that describes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "transport/message.hpp"

namespace hocket::transport {

/// Appends the elements of a schedule's messages to send, from this memory, one message after the
/// other.
void append_early(std::string& elements, const Schedule& schedule, const std::byte* memory);

/// Copies the elements of a schedule's messages to receive, as `append_early` has them, into this
/// memory. @throws Error if they are too few.
void unpack_early(std::span<const std::byte> elements, const Schedule& schedule, std::byte* memory);

}  // namespace hocket::transport
