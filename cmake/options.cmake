# SPDX-License-Identifier: BSD-3-Clause
# How every target is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    message(FATAL_ERROR "hocket needs g++ 12 or newer (C++20), and found "
                        "${CMAKE_CXX_COMPILER_VERSION} as ${CMAKE_CXX_COMPILER}; "
                        "install g++-12 and set CXX=g++-12.")
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "kind of build" FORCE)
endif()
# -O3 costs a tenth of the compiler's time, and pays in the kernels only (hocket_optimize).
foreach(language C CXX)
    if("${CMAKE_${language}_FLAGS_RELEASE}" STREQUAL "-O3 -DNDEBUG")
        set(CMAKE_${language}_FLAGS_RELEASE "-O2 -DNDEBUG")
    endif()
endforeach()

add_library(hocket_options INTERFACE)
target_compile_options(hocket_options INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # -Wrestrict: false alarms of GCC 12 on std::string (its PR 105329).
    # Calls within one of our libraries are not for others to interpose.
    target_compile_options(hocket_options INTERFACE -Wno-restrict -fno-semantic-interposition)
endif()
if(HOCKET_JOINED)
    # Files that are compiled as one are no headers, nor one scope; the builds that compile them one
    # by one say what is wrong.
    target_compile_options(hocket_options INTERFACE -Wno-shadow)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(
            hocket_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>
        )
    endif()
endif()
if(HOCKET_WERROR)
    target_compile_options(hocket_options INTERFACE -Werror)
endif()
if(HOCKET_AUDIT)
    # The first fault ends a program, which takes g++ a quarter less time. Types of objects are not
    # checked: that reads memory through a pipe, and some tests leave no descriptor for it.
    set(unchecked vptr)
    if(NOT HOCKET_AUDIT_POINTERS)
        # Each use of a pointer is checked for these, which is a quarter of what is left. The other
        # sanitizer finds a null pointer that is used; addresses that are not aligned are left to
        # `make soak`.
        list(APPEND unchecked null alignment object-size pointer-overflow)
    endif()
    list(JOIN unchecked "," unchecked)
    target_compile_options(
        hocket_options INTERFACE -fsanitize=address,undefined -fno-sanitize=${unchecked}
                                 -fno-sanitize-recover=all -fno-omit-frame-pointer
    )
    target_compile_definitions(hocket_options INTERFACE _GLIBCXX_ASSERTIONS)
    target_link_options(hocket_options INTERFACE -fsanitize=address,undefined)
endif()
if(HOCKET_THREAD_AUDIT)
    target_compile_options(hocket_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
    target_link_options(hocket_options INTERFACE -fsanitize=thread)
endif()
if(HOCKET_SIMULATED)
    target_compile_definitions(hocket_options INTERFACE HOCKET_SIMULATED=1)
else()
    find_package(Threads REQUIRED)
    target_link_libraries(hocket_options INTERFACE Threads::Threads)
endif()
