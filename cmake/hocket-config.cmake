# SPDX-License-Identifier: BSD-3-Clause
# find_package(hocket): hocket::hocket (with MPI) and hocket::hocket_core (without).
include(CMakeFindDependencyMacro)
find_dependency(MPI COMPONENTS C)
include("${CMAKE_CURRENT_LIST_DIR}/hocket-targets.cmake")
