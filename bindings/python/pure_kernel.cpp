// SPDX-License-Identifier: BSD-3-Clause
// Kernels on raw addresses, which hocket/kernels.py has checked.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hocket/kernel.hpp"
#include "hocket/rows.hpp"
#include "pure_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace kernel = hocket::kernel;

namespace {

using Integers = std::vector<std::int64_t>;

template <class Pointer>
Pointer pointer(std::uintptr_t address) {
    return reinterpret_cast<Pointer>(address);
}

// A matrix: its address, its extents, its strides in bytes; and a list: its address, its length.
using Pair = std::pair<std::int64_t, std::int64_t>;
using Matrix = std::tuple<std::uintptr_t, Pair, Pair>;
using List = std::pair<std::uintptr_t, std::int64_t>;

kernel::MatrixForm form_of(const Matrix& matrix) {
    const auto& [address, extents, strides] = matrix;
    return {extents.first, extents.second, strides.first, strides.second};
}

std::span<const std::int64_t> span_of(const List& list) {
    return {pointer<const std::int64_t*>(list.first), static_cast<std::size_t>(list.second)};
}

kernel::InplaceOptions options_of(int threads, std::string schedule, std::string method,
                                  std::optional<std::int64_t> cap) {
    return {.threads = threads,
            .schedule = std::move(schedule),
            .method = std::move(method),
            .cap = cap};
}

}  // namespace

void bind_kernel(nb::module_& m) {
    m.def(
        "permute",
        [](std::uintptr_t source, const Integers& shape, const Integers& strides,
           std::int64_t itemsize, const Integers& axes, std::uintptr_t destination,
           const Integers& destination_strides, int threads, const std::string& schedule,
           bool cached) {
            const nb::gil_scoped_release release;
            kernel::permute(
                pointer<const void*>(source), shape, strides, itemsize, axes,
                pointer<void*>(destination), destination_strides,
                {.threads = threads,
                 .schedule = schedule,
                 .stores = cached ? kernel::Stores::cached : kernel::Stores::automatic});
        },
        "source"_a, "shape"_a, "strides"_a, "itemsize"_a, "axes"_a, "destination"_a,
        "destination_strides"_a, "threads"_a, "schedule"_a, "cached"_a);
    m.def(
        "permute_inplace",
        [](std::uintptr_t array, const Integers& shape, std::int64_t itemsize, const Integers& axes,
           int threads, std::string schedule, std::string method, std::optional<std::int64_t> cap) {
            const nb::gil_scoped_release release;
            kernel::permute_inplace(
                pointer<void*>(array), shape, itemsize, axes,
                options_of(threads, std::move(schedule), std::move(method), cap));
        },
        "array"_a, "shape"_a, "itemsize"_a, "axes"_a, "threads"_a, "schedule"_a, "method"_a,
        "cap"_a.none());
    m.def(
        "explain_permute",
        [](const Integers& shape, const Integers& axes, std::int64_t itemsize, int threads,
           std::string method, std::optional<std::int64_t> cap) {
            return kernel::explain_permute(shape, axes, itemsize,
                                           options_of(threads, "auto", std::move(method), cap));
        },
        "shape"_a, "axes"_a, "itemsize"_a, "threads"_a, "method"_a, "cap"_a.none());
    m.def("vector_instructions", &kernel::vector_instructions);
    m.def("measure_passes", &kernel::measure_passes, "repeat"_a,
          nb::call_guard<nb::gil_scoped_release>());
    m.def("pass_costs_origin", &kernel::pass_costs_origin);
    m.def(
        "cycles",
        [](const Integers& shape, const Integers& axes) {
            std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
            const nb::gil_scoped_release release;
            for (const kernel::Cycle& cycle : kernel::cycles(shape, axes))
                pairs.emplace_back(cycle.start, cycle.length);
            return pairs;
        },
        "shape"_a, "axes"_a);
    m.def(
        "cycle_path",
        [](const Integers& shape, const Integers& axes, std::int64_t start) {
            const nb::gil_scoped_release release;
            return kernel::cycle_path(shape, axes, start);
        },
        "shape"_a, "axes"_a, "start"_a);
    const auto bind_moving = [&m](const char* name, auto* move) {
        m.def(
            name,
            [move](const Matrix& source, const List& rows, std::int64_t itemsize,
                   const Matrix& destination) {
                const nb::gil_scoped_release release;
                move(pointer<const void*>(std::get<0>(source)), form_of(source), span_of(rows),
                     itemsize, pointer<void*>(std::get<0>(destination)), form_of(destination));
            },
            "source"_a, "rows"_a, "itemsize"_a, "destination"_a);
    };
    bind_moving("take_rows", &kernel::take_rows);
    bind_moving("put_rows", &kernel::put_rows);
    m.def(
        "swap_rows",
        [](const Matrix& matrix, const List& first, const List& second, std::int64_t itemsize) {
            const nb::gil_scoped_release release;
            kernel::swap_rows(pointer<void*>(std::get<0>(matrix)), form_of(matrix), span_of(first),
                              span_of(second), itemsize);
        },
        "matrix"_a, "first"_a, "second"_a, "itemsize"_a);
}
