# SPDX-License-Identifier: BSD-3-Clause
# The C interface sees public headers only.
file(GLOB c_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/c/*.cpp")
hocket_objects(hocket_c ${c_sources})
set(c_targets hocket_c)
if(HOCKET_MPI)
    file(GLOB c_mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/c/mpi/*.cpp")
    add_library(hocket_c_mpi OBJECT ${c_mpi_sources})
    hocket_join(hocket_c_mpi)
    target_link_libraries(hocket_c_mpi PRIVATE hocket_options hocket_mpi)
    list(APPEND c_targets hocket_c_mpi)
endif()
set_property(GLOBAL PROPERTY hocket_targets_of_c "${c_targets}")
hocket_optimize(-O1 ${c_targets}) # it passes on what it is given
foreach(target IN LISTS c_targets)
    get_target_property(imported ${target} IMPORTED)
    if(NOT imported)
        target_include_directories(
            ${target} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/bindings/c"
        )
    endif()
endforeach()
if(NOT HOCKET_OBJECTS)
    target_compile_definitions(hocket_c PRIVATE HOCKET_NO_MPI)
endif()
