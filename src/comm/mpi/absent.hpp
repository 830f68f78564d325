// SPDX-License-Identifier: BSD-3-Clause
// Processes of a run whose programs have ended before they took part in anything: they never will,
// and whoever opens a communicator with them would wait for ever. They and `hocket run` say so by
// files in the folder of the run (HOCKET_RUN): MPI tells nobody.
#pragma once

#include <mpi.h>

#include <string>

namespace hocket::comm {

/// This process takes part: it is about to open a communicator.
void take_part();
/// One of the user's communicator whose program has ended without, in the words of its launcher:
/// "rank 1 (task 'cols', process 0)". Empty where there is none, or nobody says so.
std::string absent_of(MPI_Comm user);

}  // namespace hocket::comm
