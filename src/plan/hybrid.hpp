// SPDX-License-Identifier: BSD-3-Clause
// The all-to-all/staged hybrid: while some senders send straight to their receivers, the others
// collect from each other what is for the same receiver.
#pragma once

#include "plan/schedule.hpp"

namespace hocket::plan {

/// Of n processes on the larger side and m on the smaller, m go direct; the others form groups of m
/// or more, whose members collect for one receiver each, and then cross one group after the other:
/// m + n/m - 1 rounds for full traffic where m divides n (Figure 2 of the paper: 3 for 4 and 2)
/// instead of n. Where nothing is gained (n < m + 2, sparse traffic) it is the direct strategy, so
/// that it never takes more rounds, or more messages that cross. Where the receiving side is the
/// larger one, all goes backwards.
Schedule make_hybrid(const std::shared_ptr<const Problem>& problem);

}  // namespace hocket::plan
