// SPDX-License-Identifier: BSD-3-Clause
// How simulated processes wake each other. There every look at what is awaited is an event that
// takes the simulator's time, and a process has up to hundreds of waits in the time of one step. So
// whoever sends rings the receiver's bell, and a process that waits looks when it rings and when a
// message of its own may have ended, had it the links for itself. When it really ends SMPI tells
// nobody: where others share the links, it looks again and again.
//
// Only where `port::simulated`; natively nothing is defined.
#pragma once

#include <cstdint>

namespace hocket::bell {

/// Who this process is: its rank among all.
void own(int process);
/// So many more requests (or fewer) may end of which no ring tells.
void expect(int requests);
/// So many sends and receives have been found to have ended.
void done(int messages);
/// This process has sent a message to that one.
void ring(int process, int tag, std::int64_t bytes);
/// This process is ready to receive the next message from that one.
void await(int process, int tag);
/// Until the bell rings, or it is time to look again; `waited`: seconds so far. A message that
/// shared its way is found to have ended late by a tenth of the time since then at most.
void doze(double waited);

}  // namespace hocket::bell
