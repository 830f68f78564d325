// SPDX-License-Identifier: BSD-3-Clause
// Which strategy a transfer takes where nobody has named one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/agree.hpp"
#include "hocket/plan.hpp"
#include "hocket/transfer.hpp"
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

/// The options of a plan between these layouts, once all is known to be right with it.
/// @throws LayoutError as the plan does; Error for a bound on buffers that is too low.
plan::Options checked_options(const Layout& source, const Layout& destination,
                              std::vector<std::int64_t> overlap, std::int64_t itemsize,
                              const RedistributeOptions& options);
/// The axes and the strategy, for the text of a call.
std::string spelled(const RedistributeOptions& options);

/// The agreement on a call, and on its strategy, which is chosen by the lowest process unless the
/// call names it. The layouts may be nullptr, and the route empty, where `mine` is a fault.
comm::Protocol<std::string> agree_on_strategy(comm::Link& link, int tag, comm::CallSignature mine,
                                              const Layout* source, const Layout* destination,
                                              plan::Options options, const Route& route);

/// Of a strategy that was named: what a process that passes elements on holds beside the arrays
/// cannot go in pieces through buffers of any size, as messages of the direct one do.
/// @throws Error where one of them would hold more than `most` bytes.
void require_room_to_relay(const Plan& plan, std::int64_t most);

}  // namespace hocket::transfer
