// SPDX-License-Identifier: BSD-3-Clause
// Which strategy a transfer takes where nobody has named one.
#pragma once

#include <string>

#include "hocket/plan.hpp"
#include "transfer/route.hpp"

namespace hocket::transfer {

/// Whether there is one way only.
inline bool only_direct(const Layout& source, const Layout& destination) {
    return source.size() == 1 && destination.size() == 1;
}

/// By `options.model` and by where the processes are. The same layouts are looked at once, so ask
/// on one process and tell the others.
std::string choose_strategy(const Layout& source, const Layout& destination, plan::Options options,
                            const Route& route);

/// Of a strategy that was named: what a process that passes elements on holds beside the arrays
/// cannot go in pieces through buffers of any size, as messages of the direct one do.
/// @throws Error where one of them would hold more than `most` bytes.
void require_room_to_relay(const Plan& plan, std::int64_t most);

}  // namespace hocket::transfer
