// SPDX-License-Identifier: BSD-3-Clause
// The route of a transfer, by the sides of its plan.
#pragma once

#include "hocket/plan.hpp"
#include "transport/route.hpp"

namespace hocket::transfer {

using transport::Route;

/// For the reasons of senders that refuse a start; only transfers that may refuse use it.
inline int refusal_tag(const Route& route) {
    return route.data_tag + 1;
}

inline int rank_of(const Route& route, Side side, std::int64_t process) {
    return (side == Side::source ? route.source
                                 : route.destination)[static_cast<std::size_t>(process)];
}

}  // namespace hocket::transfer
