// SPDX-License-Identifier: BSD-3-Clause
// What hocket.computing takes from the room of arrays; `make demo` builds neither.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "hocket/binding.hpp"
#include "mpi_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {

void bind_array(nb::module_& m) {
    m.def("parts_along", &Binding::parts_along, "layout"_a, "dimension"_a,
          "One index of each part into which the processes divide a dimension.");

    m.def("within_buffers", &Binding::within_buffers, "bytes"_a,
          "The most bytes of a temporary array.");
}

}  // namespace hocket::python
