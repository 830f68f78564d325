# SPDX-License-Identifier: BSD-3-Clause
# What encrypts ports, where it is found: OpenSSL 3. Without it the library is built all the same,
# and says so when a key would be needed.
find_package(OpenSSL 3.0 QUIET)
set(hocket_tls_libraries "")
if(OPENSSL_FOUND AND NOT HOCKET_SIMULATED)
    set(hocket_tls_libraries ${OPENSSL_SSL_LIBRARY} ${OPENSSL_CRYPTO_LIBRARY})
else()
    message(STATUS "OpenSSL 3 is not here: ports are built without encryption")
endif()

# hocket_use_tls(<target>): compiles a target with these headers.
function(hocket_use_tls target)
    get_target_property(imported ${target} IMPORTED)
    if(imported OR NOT hocket_tls_libraries)
        return()
    endif()
    target_compile_definitions(${target} PRIVATE HOCKET_TLS=1)
    target_include_directories(${target} SYSTEM PRIVATE "${OPENSSL_INCLUDE_DIR}")
endfunction()
