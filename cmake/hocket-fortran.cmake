# SPDX-License-Identifier: BSD-3-Clause
# Part of hocketConfig.cmake: the Fortran module, built by the compiler of whoever uses it.

# In an order that compiles.
set(hocket_fortran_sources
    hocket_base.F90
    hocket_types.F90
    hocket_c_interfaces.F90
    hocket_arguments.F90
    hocket_views.F90
    hocket_generated_calls.F90
    hocket_layout_plan_calls.F90
    hocket_layout_ownership.F90
    hocket_blacs.F90
    hocket_array_task_calls.F90
    hocket_access_types.F90
    hocket_accesses.F90
    hocket_flows.F90
    hocket_items.F90
    hocket_arrays_integer.F90
    hocket_arrays_logical.F90
    hocket_arrays_real.F90
    hocket_arrays_complex.F90
    hocket.F90
)

# hocket_fortran_library(<name> <source>...): a static library, and where its modules are.
function(hocket_fortran_library name)
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
    set_target_properties(
        ${name} PROPERTIES Fortran_MODULE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${name}_modules"
                           POSITION_INDEPENDENT_CODE ON
    )
    target_include_directories(
        ${name} PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/${name}_modules>"
    )
    if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
        # gfortran takes allocatable arrays on their first assignment for uninitialized.
        target_compile_options(${name} PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
    endif()
endfunction()
