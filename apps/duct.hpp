// SPDX-License-Identifier: BSD-3-Clause
// The flow as a program that runs on until somebody stops it. It has a port, so that viewers, which
// come and go, see velocities and smoke, and change the viscosity and the sources of smoke.
#pragma once

#include "program.hpp"

namespace apps {

/// Parameters of `program`: rows, cols, port, address, key, rate (steps a second; 0: no limit).
/// Reports the number of steps.
void run_duct(Program& program);

}  // namespace apps
