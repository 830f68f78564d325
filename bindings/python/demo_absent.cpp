// SPDX-License-Identifier: BSD-3-Clause
// Compiled in place of stores, ports and computing with arrays in the build for the demo, which
// needs none of them.
#include <nanobind/nanobind.h>

#include <string>

#include "mpi_binding.hpp"
#include "pure_binding.hpp"

namespace nb = nanobind;

namespace {

// Python calls this function for each name that the module lacks.
void name_the_remedy(nb::module_& m) {
    m.attr("__getattr__") = nb::cpp_function([](const nb::str& name) -> nb::object {
        const std::string text = std::string("hocket has no '") + name.c_str() +
                                 "' here, because `make demo` builds what the demo needs; run "
                                 "`make which` once, which builds everything";
        throw nb::attribute_error(text.c_str());
    });
}

}  // namespace

void bind_store(nb::module_& m) {
    name_the_remedy(m);
}
void bind_observe(nb::module_& /*unused*/) {}

namespace hocket::python {

void bind_store(nb::module_& m) {
    name_the_remedy(m);
}
void bind_array(nb::module_& /*unused*/) {}
void bind_port(nb::module_& /*unused*/) {}

}  // namespace hocket::python
