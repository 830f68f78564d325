// SPDX-License-Identifier: BSD-3-Clause
// Counts of messages with data that this process has started; see hocket::transfer_counts.
#pragma once

#include <cstddef>

namespace hocket::transfer {

void count_sends(std::size_t messages);
void count_receives(std::size_t messages);

}  // namespace hocket::transfer
