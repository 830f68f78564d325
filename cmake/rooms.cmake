# SPDX-License-Identifier: BSD-3-Clause
# A room is a folder of src/. It is compiled with an include root of its own, which holds links to
# itself and to the rooms it may use, and nothing else: an include of another room does not build.

# hocket_objects(<target> <source>...): an object library that serves every MPI. With HOCKET_OBJECTS
# the objects of that build are used instead of compiling them again.
function(hocket_objects target)
    if(TARGET ${target}) # imported
        return()
    endif()
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
    hocket_join(${target})
    target_link_libraries(${target} PRIVATE hocket_options)
    set_property(GLOBAL APPEND PROPERTY hocket_common "${target}")
endfunction()
if(HOCKET_OBJECTS)
    include("${HOCKET_OBJECTS}/objects.cmake")
endif()

# hocket_room(<name> [USES <room>...])
#
# Defines the targets hocket_<name>, and hocket_<name>_mpi where the folder mpi/ of the room has
# sources that see <mpi.h>. A global property has the room and all that it uses, directly or not.
function(hocket_room name)
    cmake_parse_arguments(PARSE_ARGV 1 room "" "" "USES")
    set(rooms "${name}")
    foreach(used IN LISTS room_USES)
        get_property(inherited GLOBAL PROPERTY "hocket_rooms_of_${used}")
        list(APPEND rooms ${inherited})
    endforeach()
    list(REMOVE_DUPLICATES rooms)
    set_property(GLOBAL PROPERTY "hocket_rooms_of_${name}" "${rooms}")

    set(root "${PROJECT_BINARY_DIR}/rooms/${name}")
    file(REMOVE_RECURSE "${root}")
    file(MAKE_DIRECTORY "${root}")
    foreach(visible IN LISTS rooms)
        file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${visible}" "${root}/${visible}" SYMBOLIC)
    endforeach()

    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
    set(mpi_sources ${sources})
    list(FILTER mpi_sources INCLUDE REGEX "/mpi/[^/]*$")
    list(FILTER sources EXCLUDE REGEX "/mpi/[^/]*$")
    hocket_objects(hocket_${name} ${sources})
    set(targets hocket_${name})
    if(mpi_sources AND HOCKET_MPI)
        add_library(hocket_${name}_mpi OBJECT ${mpi_sources})
        target_link_libraries(hocket_${name}_mpi PRIVATE hocket_options PUBLIC hocket_mpi)
        hocket_join(hocket_${name}_mpi)
        list(APPEND targets hocket_${name}_mpi)
    endif()
    foreach(target IN LISTS targets)
        get_target_property(imported ${target} IMPORTED)
        if(NOT imported)
            target_include_directories(
                ${target} PRIVATE "${root}" PUBLIC "${PROJECT_SOURCE_DIR}/include"
            )
        endif()
    endforeach()
    set_property(GLOBAL PROPERTY "hocket_targets_of_${name}" "${targets}")
endfunction()

# hocket_join(<target>): with HOCKET_JOINED sixteen of its sources are compiled as one, because each
# alone spends most of the compiler's time on the headers that all include. Sources whose private
# names are another's, too, stand alone: SKIP_UNITY_BUILD_INCLUSION, beside the target.
function(hocket_join target)
    if(HOCKET_JOINED)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
        set_property(GLOBAL APPEND PROPERTY hocket_joined "${target}")
    endif()
endfunction()

# Reading the standard library's headers takes g++ more than a second a source. So targets that are
# joined and compiled with the same options read them compiled, once there are three of them.
# Called when all targets are known; where sources are compiled one by one, an include that is
# missing is an error. smpicxx compiles no headers.
function(hocket_precompile_headers)
    if(HOCKET_SIMULATED OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        return()
    endif()
    get_property(joined GLOBAL PROPERTY hocket_joined)
    set(kinds "")
    foreach(target IN LISTS joined)
        get_target_property(kind ${target} TYPE)
        get_target_property(options ${target} COMPILE_OPTIONS)
        get_target_property(libraries ${target} LINK_LIBRARIES)
        if("GTest::gtest_main" IN_LIST libraries)
            string(APPEND kind "-gtest")
        endif()
        string(MAKE_C_IDENTIFIER "${kind}${options}" kind)
        list(APPEND kinds ${kind})
        # The first one's serve those who define more macros, but not those who define less.
        get_target_property(definitions ${target} COMPILE_DEFINITIONS)
        if(definitions)
            list(APPEND defining_${kind} ${target})
        else()
            list(APPEND of_${kind} ${target})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES kinds)
    foreach(kind IN LISTS kinds)
        list(LENGTH of_${kind} serving)
        list(APPEND of_${kind} ${defining_${kind}})
        list(LENGTH of_${kind} number)
        if(serving EQUAL 0 OR number LESS 3)
            continue()
        endif()
        list(POP_FRONT of_${kind} first)
        set(headers ${hocket_standard_headers})
        if(kind MATCHES "_gtest")
            list(APPEND headers gtest/gtest.h)
        endif()
        list(TRANSFORM headers REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:<\\0$<ANGLE-R>>")
        target_precompile_headers(${first} PRIVATE ${headers})
        foreach(other IN LISTS of_${kind})
            target_precompile_headers(${other} REUSE_FROM ${first})
        endforeach()
    endforeach()
endfunction()
cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL hocket_precompile_headers)
# those that many sources include
set(hocket_standard_headers
    algorithm array atomic bit chrono cmath cstddef cstdint cstring functional limits map memory
    mutex numeric optional span string string_view thread tuple type_traits utility variant vector
)

# hocket_optimize(<level> <target>...): how much the compiler does for the speed of release builds.
function(hocket_optimize level)
    foreach(target IN LISTS ARGN)
        get_target_property(imported ${target} IMPORTED)
        if(NOT imported)
            target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
        endif()
    endforeach()
endfunction()

# hocket_hurry(<target>...): with sanitizers, whatever else is optimized: their tests compute for
# long. Such code takes g++ somewhat longer with -Og than with -O0, and twice as long with -O1.
function(hocket_hurry)
    if(HOCKET_AUDIT)
        foreach(target IN LISTS ARGN)
            target_compile_options(${target} PRIVATE -Og)
        endforeach()
    endif()
endfunction()

# hocket_targets_of(<variable> <room>...): the targets of these rooms.
function(hocket_targets_of variable)
    set(targets "")
    foreach(room IN LISTS ARGN)
        get_property(own GLOBAL PROPERTY "hocket_targets_of_${room}")
        list(APPEND targets ${own})
    endforeach()
    set(${variable} "${targets}" PARENT_SCOPE)
endfunction()

# hocket_library(<name> <room>...): one library of the objects of these rooms.
function(hocket_library name)
    hocket_targets_of(targets ${ARGN})
    set(objects "")
    foreach(target IN LISTS targets)
        list(APPEND objects "$<TARGET_OBJECTS:${target}>")
    endforeach()
    if(HOCKET_SIMULATED)
        # Simulated ranks live in one process; only the program itself is privatized for each.
        add_library(${name} STATIC ${objects})
    else()
        add_library(${name} SHARED ${objects})
    endif()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    add_library(hocket::${name} ALIAS ${name})
    target_include_directories(
        ${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                       "$<INSTALL_INTERFACE:include>"
    )
    target_compile_features(${name} PUBLIC cxx_std_20)
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:hocket_options>)
    if(NOT SKBUILD)
        set_target_properties(
            ${name} PROPERTIES VERSION ${PROJECT_VERSION}
                               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        )
    endif()
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../../..")
endfunction()

# hocket_export_objects(): writes objects.cmake, by which another build uses the object libraries of
# this one and nanobind; the target `objects` builds them. Simulated programs share the rooms
# that neither wait nor see HOCKET_SIMULATED.
function(hocket_export_objects)
    get_property(common GLOBAL PROPERTY hocket_common)
    set(content "# Made by CMake: what serves every MPI.\n")
    foreach(target IN LISTS common)
        string(APPEND content
               "if(NOT HOCKET_SIMULATED OR ${target} MATCHES \"_(layout|kernel|plan)$\")\n"
               "    add_library(${target} OBJECT IMPORTED GLOBAL)\n"
               "    set_target_properties(${target} PROPERTIES IMPORTED_OBJECTS\n"
               "        \"$<TARGET_OBJECTS:${target}>\")\n"
               "endif()\n")
    endforeach()
    set(targets ${common})
    if(TARGET nanobind-static)
        string(APPEND content "add_library(hocket_nanobind STATIC IMPORTED GLOBAL)\n"
               "set_target_properties(hocket_nanobind PROPERTIES IMPORTED_LOCATION\n"
               "    \"$<TARGET_FILE:nanobind-static>\")\n")
        list(APPEND targets nanobind-static)
    endif()
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/objects.cmake" CONTENT "${content}")
    add_custom_target(objects)
    add_dependencies(objects ${targets})
endfunction()
