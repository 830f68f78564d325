// SPDX-License-Identifier: BSD-3-Clause
// Arrows in a trace, from the departure of a transfer's elements to their arrival.
#pragma once

#include <string>

#include "transfer/schedule.hpp"
#include "transport/route.hpp"

namespace hocket::transfer {

/// Records a slice of this thread from `began` until now, in which the elements of the transfer's
/// n-th run depart (`side` source) or have arrived (destination), with an arrow for each peer. Both
/// ends of an arrow compute the same id without a message.
void record_arrows(Side side, const Schedule& work, const transport::Route& route, std::int64_t run,
                   const std::string& name, double began);

}  // namespace hocket::transfer
