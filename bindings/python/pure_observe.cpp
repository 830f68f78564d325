// SPDX-License-Identifier: BSD-3-Clause
// hocket._pure.Observer: one who looks on, without MPI.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "hocket/observer.hpp"
#include "pure_binding.hpp"
#include "raised.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Observer;

namespace {

using Given = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>;

// Ctrl-C, while a wait runs without the interpreter's lock.
void check_signals() {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw hocket::python::Raised(nb::python_error());
}

void raise_again(const std::exception_ptr& pending, void* /*unused*/) {
    try {
        std::rethrow_exception(pending);
    } catch (const hocket::python::Raised& error) {
        error.raise();
    }
}

// The program that is gone is none of this job's processes: this job goes on.
template <class Function>
auto looking(Function&& function) {
    try {
        const nb::gil_scoped_release released;
        return function();
    } catch (const hocket::PeerLostError& error) {
        const nb::object type = nb::module_::import_("hocket.errors").attr("PeerLostError");
        PyErr_SetString(type.ptr(), error.what());
        throw nb::python_error();
    }
}

}  // namespace

void bind_observe(nb::module_& m) {
    nb::register_exception_translator(raise_again);
    nb::class_<Observer>(m, "Observer", "One who looks on.")
        .def_static(
            "open",
            [](const std::string& port, const std::string& key, std::optional<double> timeout,
               bool secure) {
                return looking([&] {
                    return Observer::open(port, {key, timeout, secure, check_signals});
                });
            },
            "port"_a, "key"_a, "timeout"_a.none(), "secure"_a)
        .def("arrays",
             [](const Observer& observer) {
                 const auto arrays = looking([&] { return observer.arrays(); });
                 nb::list out;
                 for (const auto& one : arrays)
                     out.append(nb::make_tuple(one.name, one.dtype, one.itemsize, one.shape));
                 return out;
             })
        .def(
            "parameters",
            [](const Observer& observer) { return looking([&] { return observer.parameters(); }); })
        .def(
            "read",
            [](Observer& observer, const std::string& name, const std::vector<Given>& slices,
               std::uintptr_t data) {
                std::vector<hocket::Slice> wanted;
                for (const auto& [first, count, step, keep] : slices)
                    wanted.push_back({first, count, step, keep});
                looking([&] { observer.read(name, wanted, reinterpret_cast<void*>(data)); });
            },
            "name"_a, "slices"_a, "data"_a)
        .def(
            "set",
            [](Observer& observer, const std::string& name, const hocket::Value& value) {
                looking([&] { observer.set(name, value); });
            },
            "name"_a, "value"_a)
        .def("step", &Observer::step)
        .def("swapped", &Observer::swapped)
        .def("close", &Observer::close);
    m.def("ports", [] {
        nb::list out;
        for (const auto& port : hocket::ports())
            out.append(nb::make_tuple(port.name, port.process, port.processes, port.address));
        return out;
    });
    m.def("encryption_library", &hocket::encryption_library);
    m.def("give_key", &hocket::give_key, "key"_a, "right"_a, "path"_a);
}
