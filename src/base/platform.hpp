// SPDX-License-Identifier: BSD-3-Clause
// What the ground under the library offers: time, yielding, cores. Native, or simulated by
// SimGrid, where there are no operating-system threads, time is simulated, and a process that
// spins without telling the simulator stops the world (SimGrid manual, "SMPI: limitations").
#pragma once

#include <cstdint>

namespace hocket::platform {

#ifdef HOCKET_SIMULATED
inline constexpr bool simulated = true;
#else
inline constexpr bool simulated = false;
#endif

double seconds();             ///< monotonic
void pause();                 ///< tells the core that this is a spin loop
void yield();                 ///< lets another process or thread of this core run
void sleep(double duration);  ///< seconds
int cores();                  ///< cores that this process may run on
/// Whether a process of this host, by its id, may run on any of them; true where nobody can tell.
bool shares_cores(std::int64_t process);

}  // namespace hocket::platform
