// SPDX-License-Identifier: BSD-3-Clause
// hocket._mpi.Halo: an array with a border.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "hocket/halo.hpp"
#include "mpi_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {
namespace {

nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> memory_of(const Halo& halo) {
    auto bytes = static_cast<std::size_t>(halo.array().dtype().size);
    for (const auto extent : halo.local_shape()) bytes *= static_cast<std::size_t>(extent);
    auto keep = std::make_unique<Halo>(halo);
    const nb::capsule owner(keep.release(),
                            [](void* held) noexcept { delete static_cast<Halo*>(held); });
    return {static_cast<std::uint8_t*>(halo.data()), {bytes}, owner};
}

}  // namespace

void bind_halo(nb::module_& m) {
    nb::class_<Halo>(m, "Halo", "An array with a border.")
        .def(
            "__init__",
            [](Halo* self, const Array& array, const Shape& width,
               const std::vector<bool>& periodic) { new (self) Halo(array, width, periodic); },
            "array"_a, "width"_a, "periodic"_a)
        .def("local_shape", &Halo::local_shape)
        .def("memory", &memory_of)
        .def("edges",
             [](const Halo& halo) {
                 nb::list result;
                 for (std::size_t d = 0; d < halo.width().size(); ++d) {
                     const Edges edges = halo.edges(d);
                     result.append(nb::make_tuple(edges.below, edges.above));
                 }
                 return nb::tuple(result);
             })
        .def(
            "exchange",
            [](const Halo& halo, std::optional<double> timeout) {
                halo.exchange(Deadline::in(timeout));
            },
            "timeout"_a.none(), nb::call_guard<nb::gil_scoped_release>())
        .def(
            "iexchange", [](const Halo& halo) { return halo.iexchange(); },
            nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace hocket::python
