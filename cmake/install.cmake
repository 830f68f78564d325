# SPDX-License-Identifier: BSD-3-Clause
# What is installed: in a wheel, the libraries beside the extensions; else headers, libraries, and
# what find_package(hocket) and `pkg-config hocket` find.
include(GNUInstallDirs)
set(installed "")
foreach(library IN ITEMS hocket_core hocket)
    if(TARGET ${library})
        list(APPEND installed ${library})
    endif()
endforeach()
if(NOT installed OR HOCKET_SIMULATED)
    return()
endif()

# No program links libhocket-mpi unless it asks for it.
set(libraries ${installed})
if(TARGET hocket_blocking)
    list(APPEND libraries hocket_blocking)
endif()

if(TARGET hocket AND NOT SKBUILD)
    include(hocket-fortran)
endif()

if(SKBUILD)
    install(TARGETS ${libraries} LIBRARY DESTINATION hocket COMPONENT python)
    return()
endif()

# The installed library finds hocket_core beside itself, and its MPI where it was found here.
# (INSTALL_RPATH_USE_LINK_PATH passes over what lies in this checkout, as .env does.)
set(places "$ORIGIN")
foreach(library IN LISTS hocket_mpi_libraries)
    get_filename_component(folder "${library}" DIRECTORY)
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND places "${folder}")
    endif()
endforeach()
list(REMOVE_DUPLICATES places)
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "${places}")
set(exported ${libraries})
if(TARGET hocket)
    list(APPEND exported hocket_mpi)
endif()
install(TARGETS ${exported} EXPORT hocket)
install(EXPORT hocket NAMESPACE hocket:: FILE hocket-targets.cmake
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/hocket")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hocket" TYPE INCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" TYPE DOC)

include(CMakePackageConfigHelpers)
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/hocketConfig.cmake.in" "${PROJECT_BINARY_DIR}/hocketConfig.cmake"
    INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/hocket"
)
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake" COMPATIBILITY SameMinorVersion
)
install(FILES "${PROJECT_BINARY_DIR}/hocketConfig.cmake"
              "${PROJECT_BINARY_DIR}/hocketConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/hocket-mpi.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/hocket")

# pkg-config: paths from where the file lies, so that an installed tree can be moved.
set(hocket_pc_cflags "")
if(TARGET hocket)
    set(hocket_pc_cflags " -DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1")
endif()
set(hocket_pc_libs "")
foreach(library IN LISTS installed)
    string(PREPEND hocket_pc_libs " -l${library}")
endforeach()
foreach(folder IN LISTS hocket_mpi_include_dirs)
    string(REPLACE " " "\\ " folder "${folder}")
    string(APPEND hocket_pc_cflags " -I${folder}")
endforeach()
foreach(library IN LISTS hocket_mpi_libraries)
    # The program itself is linked with MPI, and asks nobody else where it lies.
    get_filename_component(folder "${library}" DIRECTORY)
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        string(REPLACE " " "\\ " folder "${folder}")
        string(APPEND hocket_pc_libs " -Wl,-rpath,${folder}")
    endif()
    string(REPLACE " " "\\ " library "${library}")
    string(APPEND hocket_pc_libs " ${library}")
endforeach()
set(hocket_pc_fortran "")
foreach(source IN LISTS hocket_fortran_sources)
    string(APPEND hocket_pc_fortran " \${prefix}/${CMAKE_INSTALL_DATADIR}/hocket/fortran/${source}")
endforeach()
string(STRIP "${hocket_pc_fortran}" hocket_pc_fortran)
string(REGEX REPLACE "[^/]+" ".." hocket_up "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
configure_file(cmake/hocket.pc.in "${PROJECT_BINARY_DIR}/hocket.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/hocket.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
