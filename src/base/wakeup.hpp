// SPDX-License-Identifier: BSD-3-Clause
// How simulated processes wake each other. There every look at what is awaited is an event that
// takes the simulator's time, and a process has up to hundreds of waits in the time of one step. So
// a process that waits sleeps until its bell rings: who sends to it rings, and so does the network
// when a message has arrived.
//
// Only where `platform::simulated`; natively nothing is defined.
#pragma once

#include <cstdint>

namespace hocket::wakeup {

/// Who this process is: its rank among all.
void set_rank(int process);
/// This process has sent a message to that one.
void sent(int process, int tag, std::int64_t bytes);
/// This process is ready to receive the next message from that one.
void receiving(int process, int tag);
/// Until the bell rings; it also ends when 1 ms more than was `waited` so far (seconds) are over,
/// for what is due by the clock.
void sleep(double waited);

}  // namespace hocket::wakeup
