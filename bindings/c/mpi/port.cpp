// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/port.hpp"

#include "handles.hpp"
#include "hocket/binding.hpp"
#include "hocket/mpi.hpp"

using namespace hocket::c;

namespace {

hocket::Port opened_port(const char* function, const char* name, const hocket::Comm& comm,
                         const char* address, const char* key, bool secure, double timeout,
                         hocket_port** port) {
    struct Arguments {
        std::string name;
        hocket::PortOptions options;
    };
    const auto given = arguments_of(
        function,
        [&] {
            require(port, "port");
            return Arguments{hocket::c::text_of(name, "name"),
                             {"", address == nullptr ? "" : address, key == nullptr ? "" : key,
                              secure, deadline_of(timeout)}};
        },
        [&](const std::string& message) {
            hocket::Binding::refuse(comm, argument_error, message);
        });
    return hocket::Port::open(given.name, comm, given.options);
}

hocket::Tasks joined(const char* function, const char* name, const hocket::Comm& comm,
                     const char* task, const char* key, bool secure, double timeout,
                     double reconnect, hocket_tasks** tasks) {
    struct Arguments {
        std::string name;
        hocket::ConnectOptions options;
    };
    const auto given = arguments_of(
        function,
        [&] {
            require(tasks, "tasks");
            return Arguments{hocket::c::text_of(name, "name"),
                             {hocket::c::text_of(task, "task"), key == nullptr ? "" : key, secure,
                              deadline_of(timeout), reconnect}};
        },
        [&](const std::string& message) {
            hocket::Binding::refuse(comm, argument_error, message);
        });
    return hocket::connect(given.name, comm, given.options);
}

}  // namespace

int hocket_connect(const char* name, MPI_Comm comm, const char* task, const char* key, bool secure,
                   double timeout, double reconnect, hocket_tasks** tasks) {
    const char* const function = __func__;
    return guard(function, [&] {
        give(tasks, joined(function, name, hocket::from_mpi(comm), task, key, secure, timeout,
                           reconnect, tasks));
    });
}

int hocket_connect_fortran(const char* name, int comm, const char* task, const char* key,
                           bool secure, double timeout, double reconnect, hocket_tasks** tasks) {
    const char* const function = __func__;
    return guard(function, [&] {
        give(tasks, joined(function, name, hocket::from_fortran(comm), task, key, secure, timeout,
                           reconnect, tasks));
    });
}

int hocket_port_open(const char* name, MPI_Comm comm, const char* address, const char* key,
                     bool secure, double timeout, hocket_port** port) {
    const char* const function = __func__;
    return guard(function, [&] {
        give(port, opened_port(function, name, hocket::from_mpi(comm), address, key, secure,
                               timeout, port));
    });
}

int hocket_port_open_fortran(const char* name, int comm, const char* address, const char* key,
                             bool secure, double timeout, hocket_port** port) {
    const char* const function = __func__;
    return guard(function, [&] {
        give(port, opened_port(function, name, hocket::from_fortran(comm), address, key, secure,
                               timeout, port));
    });
}
