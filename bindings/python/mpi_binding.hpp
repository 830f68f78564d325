// SPDX-License-Identifier: BSD-3-Clause
// Common to the parts of the extension module hocket._mpi.
#pragma once

#include <nanobind/nanobind.h>

#include "hocket/binding.hpp"
#include "hocket/transfer.hpp"
#include "mpi_handles.hpp"

namespace hocket::python {

nanobind::dict dict_of(const Profile& profile);

void bind_flow(nanobind::module_& m);
void bind_tasks(nanobind::module_& m);
void bind_team(nanobind::module_& m);
void bind_transfer(nanobind::module_& m);
void bind_halo(nanobind::module_& m);
void bind_array(nanobind::module_& m);
void bind_store(nanobind::module_& m);
void bind_port(nanobind::module_& m);

}  // namespace hocket::python
