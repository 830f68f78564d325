// SPDX-License-Identifier: BSD-3-Clause
// Wake-ups of simulated processes. In simulation every poll is an event that takes the simulator's
// time, and a process may wait hundreds of times in one step. So a waiting process sleeps until a
// sender, or the network on arrival of a message, wakes it.
//
// Only if `platform::simulated`; a native build defines nothing here.
#pragma once

#include <cstdint>

namespace hocket::wakeup {

/// The rank of this process among all.
void set_rank(int process);
/// This process has sent a message to that one.
void sent(int process, int tag, std::int64_t bytes);
/// This process is ready to receive the next message from that one.
void receiving(int process, int tag);
/// After so many seconds, sets `reached` and wakes this process.
void after(double seconds, bool& reached);
/// Sleeps until a wake-up; at most 1 ms longer than `waited` so far (seconds), for deadlines.
void sleep(double waited);

}  // namespace hocket::wakeup
