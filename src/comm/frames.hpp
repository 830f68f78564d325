// SPDX-License-Identifier: BSD-3-Clause
// Memory for the frames of protocols.
#pragma once

#include <cstddef>

namespace hocket::comm {

/// So many bytes, of those that this thread gave back if it has any. @throws std::bad_alloc
void* take_frame(std::size_t bytes);
/// What `take_frame` gave for so many bytes, to any thread.
void give_frame(void* frame, std::size_t bytes) noexcept;

}  // namespace hocket::comm
