// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "hocket/error.hpp"

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

/// A program's exit code, which `run` returns between MPI's beginning and its end.
template <class Run>
int program(int& argc, char**& argv, const Run& run) {
    MPI_Init(&argc, &argv);
    int code = 1;
    try {
        code = run();
    } catch (const hocket::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        // Under SMPI MPI_Abort ends the program with exit code 0, and the others may wait for us.
        std::_Exit(1);
    }
    MPI_Finalize();
    return code;
}

}  // namespace simulated
