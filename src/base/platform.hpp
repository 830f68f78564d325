// SPDX-License-Identifier: BSD-3-Clause
// The platform: time, yielding, cores. Native, or simulated by SimGrid, which has no
// operating-system threads and a simulated clock. There, a process that spins without a call of the
// simulator stops the simulation (SimGrid manual, "SMPI: limitations").
#pragma once

#include <cstdint>
#include <string>

namespace hocket::platform {

#ifdef HOCKET_SIMULATED
inline constexpr bool simulated = true;
#else
inline constexpr bool simulated = false;
#endif

double seconds();             ///< monotonic
double thread_seconds();      ///< of the processor, that the calling thread has used
void pause();                 ///< hints the core that this is a spin loop
void yield();                 ///< lets another process or thread of this core run
void sleep(double duration);  ///< seconds
int cores();                  ///< cores available to this process
std::string host_name();      ///< as this host calls itself
std::int64_t process_id();    ///< as getpid(), without a system call each time
/// A number of the calling thread, for `keep_off`.
int thread_number();
/// Takes the core on which the caller runs from a thread, if it has others; the core, or -1.
/// `allow_again`: the calling thread may run there again.
int keep_off(int thread_number);
void allow_again(int core);
/// Whether this process and that one (by its id) can run on a common core; true if unknown.
bool shares_cores(std::int64_t process);

}  // namespace hocket::platform
