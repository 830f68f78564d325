# SPDX-License-Identifier: BSD-3-Clause
# The package hocket as it is imported from the build tree: links to bindings/python/hocket, and
# beside them the extensions of this MPI. (A wheel gets the sources from scikit-build-core.)
execute_process(
    COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT RESULT_VARIABLE failed
)
if(failed)
    message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind; run `make which`, or "
                        "`${Python_EXECUTABLE} -m pip install nanobind`.")
endif()
find_package(nanobind CONFIG REQUIRED)

set(package_source "${PROJECT_SOURCE_DIR}/bindings/python/hocket")
set(package_build "${PROJECT_BINARY_DIR}/python/hocket")
file(GLOB_RECURSE stale "${package_build}/*.py" "${package_build}/*.pyi"
     "${package_build}/py.typed")
if(stale)
    file(REMOVE ${stale})
endif()
file(GLOB_RECURSE modules RELATIVE "${package_source}" CONFIGURE_DEPENDS "${package_source}/*.py"
     "${package_source}/*.pyi" "${package_source}/py.typed")
foreach(module IN LISTS modules)
    get_filename_component(folder "${package_build}/${module}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "${package_source}/${module}" "${package_build}/${module}" SYMBOLIC)
endforeach()

# hocket_extension(<module> <library>): bindings/python/<module without _>_*.cpp over a library.
function(hocket_extension module library)
    string(SUBSTRING ${module} 1 -1 prefix)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/python/${prefix}_*.cpp")
    if(NOT sources OR NOT TARGET ${library})
        return()
    endif()
    # NOMINSIZE: the call overhead of small transfers matters more than the size of the module.
    nanobind_add_module(${module} NB_STATIC NOMINSIZE NB_DOMAIN hocket ${sources})
    target_link_libraries(${module} PRIVATE ${library} hocket_options)
    # Our warnings are not for nanobind's headers.
    target_include_directories(${module} SYSTEM PRIVATE "${NB_DIR}/include")
    # $ORIGIN/../../.. is the lib folder of an environment, where PyPI's MPI wheels put libmpi.
    set_target_properties(
        ${module} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${package_build}"
                             INSTALL_RPATH "$ORIGIN;$ORIGIN/../../.."
    )
    if(SKBUILD)
        install(TARGETS ${module} LIBRARY DESTINATION hocket COMPONENT python)
    endif()
endfunction()

hocket_extension(_pure hocket_core)
if(HOCKET_MPI)
    hocket_extension(_mpi hocket)
endif()

# Types of an extension that has no stub in the sources, for `make check`: mypy reads them.
# (nanobind_add_stub would do it in every build, and import MPI for it.)
set(stubs "")
foreach(module IN ITEMS _pure _mpi)
    if(NOT TARGET ${module} OR NOT TARGET _pure OR EXISTS "${package_source}/${module}.pyi")
        continue()
    endif()
    set(stub "${package_build}/${module}.pyi")
    add_custom_command(
        OUTPUT "${stub}"
        COMMAND "${Python_EXECUTABLE}" -m nanobind.stubgen -q -i "${PROJECT_BINARY_DIR}/python"
                -m hocket.${module} -o "${stub}"
        DEPENDS ${module} _pure
        VERBATIM
    )
    list(APPEND stubs "${stub}")
endforeach()
add_custom_target(stubs DEPENDS ${stubs})
