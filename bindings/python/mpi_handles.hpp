// SPDX-License-Identifier: BSD-3-Clause
// The part of hocket._mpi that is compiled for each MPI; it does not use Python.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hocket/comm.hpp"
#include "hocket/operation.hpp"

namespace hocket::python {

/// mpi4py's `Comm.handle`, and back.
Comm comm_of(std::uintptr_t handle);
std::uintptr_t handle_of(const Comm& comm);
/// The MPI request behind mpi4py's `Request.handle`, which mpi4py still owns.
std::shared_ptr<Operation> watched(std::uintptr_t handle);

std::string library();  ///< mpi_library()
/// The MPI whose <mpi.h> this was compiled with, as mpi4py's get_vendor() names it.
std::string built_with();

}  // namespace hocket::python
