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
# The packages of programs, benchmarks and papers have no extension: a link to each folder.
foreach(package cli bench papers)
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${package}" "${package_build}/${package}" SYMBOLIC)
endforeach()

# For a wheel of Python's stable ABI (pip wheel -Cwheel.py-api=cp312), which serves this version and
# later ones.
set(abi3 "")
if(SKBUILD_SABI_VERSION AND TARGET Python::SABIModule)
    set(abi3 "-abi3")
endif()

# The sources of an extension that serve every MPI, and nanobind itself, are compiled once, too:
# nanobind's functions below are those by which nanobind_add_module is made.
if(NOT TARGET hocket_nanobind)
    nanobind_build_library(nanobind-static${abi3})
    nanobind_disable_stack_protector(nanobind-static${abi3})
    if(abi3)
        target_compile_definitions(nanobind-static${abi3} PUBLIC Py_LIMITED_API=0x030C0000)
    endif()
    if(HOCKET_JOINED)
        set_target_properties(nanobind-static${abi3} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
    add_library(hocket_nanobind INTERFACE)
    target_link_libraries(hocket_nanobind INTERFACE nanobind-static${abi3})
endif()

# hocket_extension(<module> <library> [<source>...]): bindings/python/<module without _>_*.cpp over a
# library, and sources that are compiled for each MPI.
function(hocket_extension module library)
    string(SUBSTRING ${module} 1 -1 prefix)
    set(folder "${PROJECT_SOURCE_DIR}/bindings/python")
    file(GLOB sources CONFIGURE_DEPENDS "${folder}/${prefix}_*.cpp")
    list(REMOVE_ITEM sources ${ARGN})
    # Joined apart, so that the objects of the demo's build are those of the whole one.
    set(apart ${sources})
    list(FILTER apart INCLUDE REGEX "_(array|observe|port|store)\\.cpp$")
    list(REMOVE_ITEM sources ${apart})
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP main)
    set_source_files_properties(${apart} PROPERTIES UNITY_GROUP apart)
    if(HOCKET_DEMO)
        set(apart "${folder}/demo_absent.cpp")
    endif()
    hocket_objects(hocket_python_${prefix} ${sources} ${apart})
    get_target_property(imported hocket_python_${prefix} IMPORTED)
    if(NOT imported)
        set_target_properties(hocket_python_${prefix} PROPERTIES UNITY_BUILD_MODE GROUP)
        target_compile_definitions(hocket_python_${prefix} PRIVATE NB_DOMAIN=hocket)
        target_include_directories(hocket_python_${prefix} PRIVATE "${PROJECT_SOURCE_DIR}/include")
        # Our warnings are not for nanobind's headers.
        target_include_directories(hocket_python_${prefix} SYSTEM PRIVATE "${NB_DIR}/include")
        target_link_libraries(hocket_python_${prefix} PRIVATE hocket_nanobind)
        nanobind_disable_stack_protector(hocket_python_${prefix})
        nanobind_set_visibility(hocket_python_${prefix})
    endif()
    if(NOT TARGET ${library})
        return()
    endif()
    add_library(${module} MODULE ${ARGN} $<TARGET_OBJECTS:hocket_python_${prefix}>)
    if(abi3)
        nanobind_extension_abi3(${module})
    else()
        nanobind_extension(${module})
    endif()
    nanobind_link_options(${module})
    nanobind_set_visibility(${module})
    target_link_libraries(${module} PRIVATE ${library} hocket_nanobind hocket_options)
    # $ORIGIN/../../.. is the lib folder of an environment, where PyPI's MPI wheels put libmpi.
    set_target_properties(
        ${module} PROPERTIES LINKER_LANGUAGE CXX
                             LIBRARY_OUTPUT_DIRECTORY "${package_build}"
                             INSTALL_RPATH "$ORIGIN;$ORIGIN/../../.."
    )
    if(SKBUILD)
        install(TARGETS ${module} LIBRARY DESTINATION hocket COMPONENT python)
    endif()
endfunction()

hocket_extension(_pure hocket_core)
hocket_extension(_mpi hocket "${PROJECT_SOURCE_DIR}/bindings/python/mpi_handles.cpp")
