// SPDX-License-Identifier: BSD-3-Clause
// Communicators as Fortran's integers.
#include <mpi.h>

#include <string>

#include "comm/engine.hpp"
#include "comm/mpi/handle.hpp"
#include "hocket/comm.hpp"
#include "hocket/mpi.hpp"

namespace hocket {

Comm from_fortran(MPI_Fint user) {
    comm::require_running();
    const MPI_Comm converted = MPI_Comm_f2c(user);
    if (!comm::vendor::is_communicator(converted))
        throw Error("the integer " + std::to_string(user) + " is no communicator of " +
                    mpi_library() +
                    ", which hocket was built with; pass the handle of a communicator of that MPI "
                    "(in Fortran an integer, or comm%MPI_VAL), and build all parts of the program "
                    "with one MPI");
    return from_mpi(converted);
}

MPI_Fint to_fortran(const Comm& comm) {
    return MPI_Comm_c2f(to_mpi(comm));
}

}  // namespace hocket
