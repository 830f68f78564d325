# SPDX-License-Identifier: BSD-3-Clause
# A room is a folder of src/. It is compiled with an include root of its own, which holds links to
# itself and to the rooms it may use, and nothing else: an include of another room does not build.

# hocket_room(<name> [MPI] [USES <room>...])
#
# Defines the target hocket_<name>, and the property ROOMS of that target: the room and all that
# it uses, directly or not. A folder without sources defines the property only.
function(hocket_room name)
    cmake_parse_arguments(PARSE_ARGV 1 room "MPI" "" "USES")
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

    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
    if(NOT sources)
        return()
    endif()
    add_library(hocket_${name} OBJECT ${sources})
    hocket_join(hocket_${name})
    target_include_directories(
        hocket_${name} PRIVATE "${root}" PUBLIC "${PROJECT_SOURCE_DIR}/include"
    )
    target_link_libraries(hocket_${name} PRIVATE hocket_options)
    if(room_MPI)
        target_link_libraries(hocket_${name} PUBLIC hocket_mpi)
    endif()
endfunction()

# hocket_join(<target>): with HOCKET_JOINED its sources are compiled as one, because each alone
# spends most of the compiler's time on the headers that all include. Those whose private names are
# another's of the target, too, stand alone: SKIP_UNITY_BUILD_INCLUSION, beside the target.
function(hocket_join target)
    if(HOCKET_JOINED)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
endfunction()

# hocket_hurry(<target>): with sanitizers, whatever else is optimized: its tests compute for long.
function(hocket_hurry target)
    if(HOCKET_AUDIT)
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

# hocket_targets_of(<variable> <room>...): the targets of the rooms that have sources.
function(hocket_targets_of variable)
    set(targets "")
    foreach(room IN LISTS ARGN)
        if(TARGET hocket_${room})
            list(APPEND targets hocket_${room})
        endif()
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
    if(NOT objects)
        return()
    endif()
    if(HOCKET_SIMULATED)
        # Simulated ranks live in one process; only the program itself is privatized for each.
        add_library(${name} STATIC ${objects})
    else()
        add_library(${name} SHARED ${objects})
    endif()
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
