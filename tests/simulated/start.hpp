// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <unistd.h>

namespace simulated {

/// Waits until a time, so many seconds from now, that is the same on all processes, whose clock is
/// one: they would leave a barrier one after the other.
inline double all_start(double soon) {
    double now = MPI_Wtime(), latest = 0;
    MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    while ((now = MPI_Wtime()) < latest + soon)
        usleep(static_cast<useconds_t>((latest + soon - now) * 1e6) + 1);
    return now;
}

}  // namespace simulated
