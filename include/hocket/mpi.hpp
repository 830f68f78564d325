// SPDX-License-Identifier: BSD-3-Clause
// The interface to MPI: communicators in and out, and MPI requests as operations.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "hocket/comm.hpp"
#include "hocket/operation.hpp"

namespace hocket {

/// hocket's handle on the user's communicator; equal communicators have equal handles.
/// @throws Error for MPI_COMM_NULL, an intercommunicator, and outside MPI_Init … MPI_Finalize.
Comm from_mpi(MPI_Comm user);

/// The user's communicator behind `comm`. @throws Error after MPI_Finalize.
MPI_Comm to_mpi(const Comm& comm);

/// hocket's handle on a communicator of Fortran, which is an integer: `integer`, or
/// `MPI_Comm%MPI_VAL`.
/// @throws Error as from_mpi, and for a number that is no communicator of this MPI.
Comm from_fortran(MPI_Fint user);
MPI_Fint to_fortran(const Comm& comm);

/// Takes over a pending MPI request as an operation. The buffers of the request must live until it
/// completes.
std::unique_ptr<Operation> operation(MPI_Request request);

/// An operation that completes when the MPI request does. The caller still owns the request, and
/// has to wait for it or free it. Null and inactive requests are complete.
std::unique_ptr<Operation> watch(MPI_Request request);

/// The MPI library that hocket uses: "Open MPI 5.0.11".
std::string mpi_library();

}  // namespace hocket
