// SPDX-License-Identifier: BSD-3-Clause
// hocket._mpi.Port: where programs that were started separately find this one.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "hocket/port.hpp"
#include "mpi_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {
namespace {

using Timeout = std::optional<double>;

}  // namespace

void bind_port(nb::module_& m) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<Parameter>(m, "Parameter", "A value that observers change.")
        .def("name", &Parameter::name)
        .def("value", &Parameter::value);
    nb::class_<Port>(m, "Port", "Where other programs find this one.")
        .def_static(
            "open",
            [](const std::string& name, std::uintptr_t comm, const std::string& task,
               const std::string& address, const std::string& key, bool secure, Timeout timeout) {
                return Port::open(name, comm_of(comm),
                                  {task, address, key, secure, Deadline::in(timeout)});
            },
            "name"_a, "comm"_a, "task"_a, "address"_a, "key"_a, "secure"_a, "timeout"_a.none(),
            unlocked)
        .def("name", &Port::name)
        .def("address", &Port::address)
        .def("key", &Port::key)
        .def("polls", &Port::polls)
        .def(
            "publish",
            [](Port& port, const std::string& name, const Array& array, Timeout timeout) {
                port.publish(name, array, Deadline::in(timeout));
            },
            "name"_a, "array"_a, "timeout"_a.none(), unlocked)
        .def(
            "parameter",
            [](Port& port, const std::string& name, const Value& value, Timeout timeout) {
                return port.parameter(name, value, Deadline::in(timeout));
            },
            "name"_a, "value"_a, "timeout"_a.none(), unlocked)
        .def(
            "accept",
            [](Port& port, Timeout timeout, const Resume& resume) {
                return port.accept(Deadline::in(timeout), resume);
            },
            "timeout"_a.none(), "resume"_a, unlocked)
        .def(
            "poll", [](Port& port, Timeout timeout) { port.poll(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked)
        .def(
            "close", [](Port& port, Timeout timeout) { port.close(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked);
    m.def(
        "connect",
        [](const std::string& name, std::uintptr_t comm, const std::string& task,
           const std::string& key, bool secure, Timeout timeout, double reconnect,
           const Resume& resume) {
            return connect(name, comm_of(comm),
                           {task, key, secure, Deadline::in(timeout), reconnect, resume});
        },
        "name"_a, "comm"_a, "task"_a, "key"_a, "secure"_a, "timeout"_a.none(), "reconnect"_a,
        "resume"_a, unlocked);
    m.def(
        "disconnect",
        [](Tasks& tasks, Timeout timeout) { disconnect(tasks, Deadline::in(timeout)); }, "tasks"_a,
        "timeout"_a.none(), unlocked);
}

}  // namespace hocket::python
