# SPDX-License-Identifier: BSD-3-Clause
# What is installed: in a wheel, the libraries beside the extensions; else a C++ package that
# find_package(hocket) finds.
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

if(SKBUILD)
    install(TARGETS ${installed} LIBRARY DESTINATION hocket COMPONENT python)
    return()
endif()

if(TARGET hocket)
    list(APPEND installed hocket_mpi)
endif()
install(TARGETS ${installed} EXPORT hocket COMPONENT cxx)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hocket" TYPE INCLUDE COMPONENT cxx)
install(EXPORT hocket NAMESPACE hocket:: FILE hocket-targets.cmake
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/hocket" COMPONENT cxx)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/hocket-config-version.cmake" COMPATIBILITY SameMinorVersion
)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/hocket-config.cmake"
              "${PROJECT_BINARY_DIR}/hocket-config-version.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/hocket" COMPONENT cxx)
