// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "hocket/random.hpp"
#include "pure_binding.hpp"

namespace nb = nanobind;

void bind_random(nb::module_& m) {
    m.def("philox", [](std::uint64_t seed,
                       const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& numbers,
                       const nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig>& words) {
        nb::gil_scoped_release release;
        hocket::philox(seed, {numbers.data(), numbers.shape(0)}, {words.data(), words.shape(0)});
    });
}
