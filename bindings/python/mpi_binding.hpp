// SPDX-License-Identifier: BSD-3-Clause
// Common to the parts of the extension module hocket._mpi.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "hocket/binding.hpp"
#include "hocket/transfer.hpp"
#include "mpi_handles.hpp"

namespace hocket::python {

using MemoryView = nanobind::ndarray<nanobind::numpy, std::uint8_t, nanobind::ndim<1>>;

/// NumPy's view of memory that lives as long as the view.
MemoryView memory_view(void* data, std::int64_t size, std::shared_ptr<const void> keep);

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
