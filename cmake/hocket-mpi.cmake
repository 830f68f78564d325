# SPDX-License-Identifier: BSD-3-Clause
# Part of hocketConfig.cmake: hocket::mpi, the MPI that programs which use hocket are built with.

# hocket_same_mpi(<variable> <library>...): whether one of these is an MPI library that hocket was
# built with, or its like of another place (a moved tree, a chroot): the same soname.
function(hocket_same_mpi variable)
    set(${variable} FALSE PARENT_SCOPE)
    foreach(library IN LISTS ARGN)
        get_filename_component(real "${library}" REALPATH)
        get_filename_component(soname "${real}" NAME)
        string(REGEX REPLACE "(\\.so\\.[0-9]+).*$" "\\1" soname "${soname}")
        foreach(own IN LISTS hocket_MPI_LIBRARIES)
            get_filename_component(own_real "${own}" REALPATH)
            get_filename_component(own_soname "${own_real}" NAME)
            string(REGEX REPLACE "(\\.so\\.[0-9]+).*$" "\\1" own_soname "${own_soname}")
            if(real STREQUAL own_real OR soname STREQUAL own_soname)
                set(${variable} TRUE PARENT_SCOPE)
            endif()
        endforeach()
    endforeach()
endfunction()

set(hocket_mpi_is_there TRUE)
foreach(path IN LISTS hocket_MPI_LIBRARIES hocket_MPI_INCLUDE_DIRS)
    if(NOT EXISTS "${path}")
        set(hocket_mpi_is_there FALSE)
    endif()
endforeach()

if(MPI_C_FOUND OR NOT hocket_mpi_is_there)
    # The project has chosen an MPI already, or ours has moved.
    find_dependency(MPI COMPONENTS C)
    hocket_same_mpi(hocket_mpi_fits ${MPI_C_LIBRARIES})
    if(NOT hocket_mpi_fits)
        set(hocket_FOUND FALSE)
        set(hocket_NOT_FOUND_MESSAGE
            "hocket was built with the MPI of ${hocket_MPI_LIBRARIES}, but this project uses that \
of ${MPI_C_LIBRARIES}; configure it with hocket's MPI (-DMPI_C_COMPILER=<its mpicc>), or build \
hocket with the project's"
        )
        return()
    endif()
    add_library(hocket::mpi INTERFACE IMPORTED)
    set_target_properties(hocket::mpi PROPERTIES INTERFACE_LINK_LIBRARIES MPI::MPI_C)
else()
    add_library(hocket::mpi INTERFACE IMPORTED)
    set_target_properties(
        hocket::mpi
        PROPERTIES INTERFACE_LINK_LIBRARIES "${hocket_MPI_LIBRARIES}"
                   INTERFACE_INCLUDE_DIRECTORIES "${hocket_MPI_INCLUDE_DIRS}"
                   INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${hocket_MPI_INCLUDE_DIRS}"
    )
endif()
