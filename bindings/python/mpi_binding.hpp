// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the extension module hocket._mpi share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "hocket/comm.hpp"
#include "hocket/transfer.hpp"

namespace hocket::python {

/// mpi4py's `Comm.handle`, and back.
Comm comm_of(std::uintptr_t handle);
std::uintptr_t handle_of(const Comm& comm);

nanobind::dict dict_of(const Profile& profile);

void bind_flow(nanobind::module_& m);
void bind_tasks(nanobind::module_& m);
void bind_team(nanobind::module_& m);
void bind_halo(nanobind::module_& m);

}  // namespace hocket::python
