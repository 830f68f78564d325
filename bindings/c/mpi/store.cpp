// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/store.hpp"

#include "handles.hpp"
#include "hocket/binding.hpp"
#include "hocket/mpi.hpp"

using namespace hocket::c;

namespace {

hocket::Store opened(const char* function, const char* path, const char* mode,
                     const hocket::Comm& comm, double timeout, hocket_store** store) {
    struct Arguments {
        std::string path, mode;
        hocket::Deadline deadline;
    };
    const auto given = arguments_of(
        function,
        [&] {
            require(store, "store");
            return Arguments{hocket::c::text_of(path, "path"), hocket::c::text_of(mode, "mode"),
                             deadline_of(timeout)};
        },
        [&](const std::string& message) {
            hocket::Binding::refuse(comm, argument_error, message);
        });
    return hocket::Store::open(given.path, given.mode, comm, given.deadline);
}

}  // namespace

int hocket_store_open(const char* path, const char* mode, MPI_Comm comm, double timeout,
                      hocket_store** store) {
    const char* const function = __func__;
    return guard(function, [&] {
        give(store, opened(function, path, mode, hocket::from_mpi(comm), timeout, store));
    });
}

int hocket_store_open_fortran(const char* path, const char* mode, int comm, double timeout,
                              hocket_store** store) {
    const char* const function = __func__;
    return guard(function, [&] {
        give(store, opened(function, path, mode, hocket::from_fortran(comm), timeout, store));
    });
}
