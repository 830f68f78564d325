// SPDX-License-Identifier: BSD-3-Clause
// hocket._pure.StoreFiles: a store that one process reads.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hocket/store_files.hpp"
#include "pure_binding.hpp"
#include "store_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Shape;
using hocket::StoreFiles;

void bind_store(nb::module_& m) {
    nb::class_<StoreFiles>(m, "StoreFiles", "A store that one process looks into.")
        .def(nb::init<const std::string&>(), "path"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_static("offer_hdf5", &StoreFiles::offer_hdf5, "path"_a)
        .def("path", &StoreFiles::path)
        .def("names", &StoreFiles::names)
        .def("array",
             [](const StoreFiles& files, const std::string& name) {
                 return hocket::python::dict_of(files.array(name));
             })
        .def("attributes", &StoreFiles::attributes)
        .def("unfinished", &StoreFiles::unfinished)
        .def(
            "read",
            [](const StoreFiles& files, const std::string& name, const Shape& start,
               const Shape& stop, std::uintptr_t data, const Shape& strides) {
                files.read(name, {start, stop}, reinterpret_cast<void*>(data), strides);
            },
            "name"_a, "start"_a, "stop"_a, "data"_a, "strides"_a,
            nb::call_guard<nb::gil_scoped_release>());
}
