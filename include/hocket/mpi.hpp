// SPDX-License-Identifier: BSD-3-Clause
// What needs <mpi.h>: communicators in and out, and MPI requests as operations.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "hocket/comm.hpp"
#include "hocket/operation.hpp"

namespace hocket {

/// hocket's handle on the user's communicator; the same one for the same communicator.
/// @throws Error for MPI_COMM_NULL, an intercommunicator, and outside MPI_Init … MPI_Finalize.
Comm from_mpi(MPI_Comm user);

/// The user's communicator that `comm` stands for. @throws Error after MPI_Finalize.
MPI_Comm to_mpi(const Comm& comm);

/// The same of Fortran's handles, which are integers: `integer`, or `MPI_Comm%MPI_VAL`.
/// @throws Error also for a number that is no communicator of this MPI, as another MPI's.
Comm from_fortran(MPI_Fint user);
MPI_Fint to_fortran(const Comm& comm);

/// A pending MPI request as an operation, which takes the request over. The buffers it uses must
/// live until it is done.
std::unique_ptr<Operation> operation(MPI_Request request);

/// An operation that is done once the MPI request is, and leaves it to its owner, who still has to
/// wait for it or free it. Null and inactive requests are done.
std::unique_ptr<Operation> watch(MPI_Request request);

/// The MPI that hocket runs on, as "Open MPI 5.0.11".
std::string mpi_library();

}  // namespace hocket
