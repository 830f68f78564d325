// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/counts.hpp"

#include <atomic>

#include "hocket/transfer.hpp"

namespace hocket {
namespace {

std::atomic<std::int64_t> sends = 0, receives = 0;

}  // namespace

void transfer::count_sends(std::size_t messages) {
    sends += static_cast<std::int64_t>(messages);
}
void transfer::count_receives(std::size_t messages) {
    receives += static_cast<std::int64_t>(messages);
}

TransferCounts transfer_counts() {
    return {sends, receives};
}

}  // namespace hocket
