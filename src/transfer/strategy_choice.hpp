// SPDX-License-Identifier: BSD-3-Clause
// The choice of a strategy that no side has named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/agree.hpp"
#include "hocket/plan.hpp"
#include "hocket/transfer.hpp"
#include "transport/route.hpp"

namespace hocket::transfer {

/// Whether only the direct strategy is possible.
inline bool only_direct(const Layout& source, const Layout& destination) {
    return source.size() == 1 && destination.size() == 1;
}

/// Chooses by `options.model` and the nodes of the processes. Remembers layouts, so one process
/// should choose for the others.
std::string choose_strategy(const Layout& source, const Layout& destination, plan::Options options,
                            const transport::Route& route);

/// The options of a plan between these layouts, fully checked.
/// @throws LayoutError as the plan does; Error for a bound on buffers that is too low.
plan::Options checked_options(const Layout& source, const Layout& destination,
                              std::vector<std::int64_t> overlap, std::int64_t itemsize,
                              const RedistributeOptions& options);
/// The axes and the strategy, for the text of a call.
std::string spelled(const RedistributeOptions& options);

/// Agrees on a call, and on its strategy, which the lowest process chooses unless the call names
/// it. The layouts may be nullptr, and the route empty, if `mine` is a fault.
comm::Protocol<std::string> agree_on_strategy(comm::Link& link, int tag, comm::CallSignature mine,
                                              const Layout* source, const Layout* destination,
                                              plan::Options options, const transport::Route& route);

/// For a named strategy: the relayed messages of a process do not pass buffers in pieces, as those
/// of the direct strategy do, so it holds them completely beside the arrays.
/// @throws Error if a process would hold more than `most` bytes.
void require_memory_to_forward(const Plan& plan, std::int64_t most);

}  // namespace hocket::transfer
