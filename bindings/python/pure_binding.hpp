// SPDX-License-Identifier: BSD-3-Clause
// Common to the parts of the extension module hocket._pure.
#pragma once

#include <nanobind/nanobind.h>

void bind_layout(nanobind::module_& m);
void bind_plan(nanobind::module_& m);
void bind_kernel(nanobind::module_& m);
void bind_store(nanobind::module_& m);
void bind_observe(nanobind::module_& m);
