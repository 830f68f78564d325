// SPDX-License-Identifier: BSD-3-Clause
// Exact sums and random numbers on raw addresses, which hocket/computing has checked.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/exact.hpp"
#include "hocket/random.hpp"
#include "pure_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace exact = hocket::exact;

namespace {

using Integers = std::vector<std::int64_t>;

exact::Number number_of(const std::string& name) {
    if (name == "float16") return exact::Number::float16;
    if (name == "float32") return exact::Number::float32;
    if (name == "float64") return exact::Number::float64;
    throw hocket::Error("no exact sums of " + name);
}

template <class T>
T* address_as(std::uintptr_t address) {
    return reinterpret_cast<T*>(address);
}

exact::Terms terms_of(const std::string& number, std::uintptr_t a, const Integers& shape,
                      const Integers& strides, std::size_t kept) {
    return {.number = number_of(number),
            .a = address_as<const void>(a),
            .shape = shape,
            .a_strides = strides,
            .kept = kept};
}

}  // namespace

void bind_exact(nb::module_& m) {
    m.def("exact_words", [](const std::string& number, bool products) {
        return exact::words(number_of(number), products);
    });
    m.def(
        "exact_add",
        [](const std::string& number, std::uintptr_t a, std::uintptr_t b, const Integers& shape,
           const Integers& a_strides, const Integers& b_strides, std::size_t kept, bool negative,
           std::uintptr_t accumulators) {
            const exact::Terms terms{.number = number_of(number),
                                     .a = address_as<const void>(a),
                                     .b = address_as<const void>(b),
                                     .shape = shape,
                                     .a_strides = a_strides,
                                     .b_strides = b_strides,
                                     .kept = kept,
                                     .negative = negative};
            nb::gil_scoped_release release;
            exact::add(terms, address_as<std::int64_t>(accumulators));
        },
        "number"_a, "a"_a, "b"_a, "shape"_a, "a_strides"_a, "b_strides"_a, "kept"_a, "negative"_a,
        "accumulators"_a);
    m.def("exact_merge", [](std::uintptr_t into, std::uintptr_t from, std::int64_t count,
                            const std::string& number, bool products) {
        exact::merge(address_as<std::int64_t>(into), address_as<const std::int64_t>(from), count,
                     number_of(number), products);
    });
    m.def("exact_round",
          [](std::uintptr_t accumulators, std::int64_t count, const std::string& number,
             bool products, const std::string& result, std::uintptr_t rounded) {
              exact::round(address_as<const std::int64_t>(accumulators), count, number_of(number),
                           products, number_of(result), address_as<void>(rounded));
          });
    m.def("exact_pairs", [](const std::string& number, std::uintptr_t a, const Integers& shape,
                            const Integers& strides, std::size_t kept, std::uintptr_t sums) {
        const exact::Terms terms = terms_of(number, a, shape, strides, kept);
        nb::gil_scoped_release release;
        return exact::pairs(terms, address_as<double>(sums));
    });
    m.def("exact_sum", [](const std::string& number, std::uintptr_t a, const Integers& shape,
                          const Integers& strides, std::size_t kept, const std::string& result,
                          std::uintptr_t rounded) {
        const exact::Terms terms = terms_of(number, a, shape, strides, kept);
        nb::gil_scoped_release release;
        exact::sum(terms, number_of(result), address_as<void>(rounded));
    });
    m.def("philox", [](std::uint64_t seed,
                       const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& numbers,
                       const nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig>& words) {
        nb::gil_scoped_release release;
        hocket::philox(seed, {numbers.data(), numbers.shape(0)}, {words.data(), words.shape(0)});
    });
}
