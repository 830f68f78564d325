# SPDX-License-Identifier: BSD-3-Clause
# What stores read and write with, where it is found: JSON (nlohmann-json), zstd, zlib and blosc.
# Without one of them the library is built all the same, and says so when it would be needed.
find_path(HOCKET_JSON_INCLUDE nlohmann/json.hpp)
find_path(HOCKET_ZSTD_INCLUDE zstd.h)
find_library(HOCKET_ZSTD_LIBRARY zstd)
find_path(HOCKET_ZLIB_INCLUDE zlib.h)
find_library(HOCKET_ZLIB_LIBRARY z)
find_path(HOCKET_BLOSC_INCLUDE blosc.h)
find_library(HOCKET_BLOSC_LIBRARY blosc)
mark_as_advanced(
    HOCKET_JSON_INCLUDE HOCKET_ZSTD_INCLUDE HOCKET_ZSTD_LIBRARY HOCKET_ZLIB_INCLUDE
    HOCKET_ZLIB_LIBRARY HOCKET_BLOSC_INCLUDE HOCKET_BLOSC_LIBRARY
)

set(hocket_codec_definitions "")
set(hocket_codec_includes "")
set(hocket_codec_libraries "")
if(HOCKET_JSON_INCLUDE)
    list(APPEND hocket_codec_definitions HOCKET_JSON=1)
    list(APPEND hocket_codec_includes "${HOCKET_JSON_INCLUDE}")
else()
    message(STATUS "nlohmann-json is not here: stores are built without their files' format")
endif()
foreach(codec IN ITEMS ZSTD ZLIB BLOSC)
    if(HOCKET_${codec}_INCLUDE AND HOCKET_${codec}_LIBRARY)
        list(APPEND hocket_codec_definitions HOCKET_${codec}=1)
        list(APPEND hocket_codec_includes "${HOCKET_${codec}_INCLUDE}")
        list(APPEND hocket_codec_libraries "${HOCKET_${codec}_LIBRARY}")
    else()
        message(STATUS "${codec} is not here: stores are built without that codec")
    endif()
endforeach()
list(REMOVE_DUPLICATES hocket_codec_includes)

# hocket_use_codecs(<target>): compiles a target with these headers.
function(hocket_use_codecs target)
    get_target_property(imported ${target} IMPORTED)
    if(imported)
        return()
    endif()
    target_compile_definitions(${target} PRIVATE ${hocket_codec_definitions})
    target_include_directories(${target} SYSTEM PRIVATE ${hocket_codec_includes})
endfunction()
