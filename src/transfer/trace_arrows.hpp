// SPDX-License-Identifier: BSD-3-Clause
// In a trace: arrows from where a transfer's elements leave to where they have come.
#pragma once

#include <string>

#include "transfer/route.hpp"
#include "transfer/schedule.hpp"

namespace hocket::transfer {

/// Records a slice of this thread from `began` until now, in which the elements of the transfer's
/// n-th run begin to leave (`side` source) or have come (destination), with an arrow for each other
/// process that they go to or come from. Both ends of an arrow get the same id without a message.
void record_arrows(Side side, const Schedule& work, const Route& route, std::int64_t run,
                   const std::string& name, double began);

}  // namespace hocket::transfer
