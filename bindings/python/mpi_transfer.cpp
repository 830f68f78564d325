// SPDX-License-Identifier: BSD-3-Clause
// hocket._mpi.Transfer: a plan ready to run.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "hocket/operation.hpp"
#include "hocket/transfer.hpp"
#include "mpi_binding.hpp"
#include "mpi_handles.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {

void bind_transfer(nb::module_& m) {
    using Timeout = std::optional<double>;
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<Transfer>(m, "Transfer", "A plan ready to run.")
        .def(
            "__init__",
            [](Transfer* self, const Layout& source, const Layout& destination,
               const std::string& dtype, std::int64_t itemsize, std::uintptr_t comm,
               std::vector<std::int64_t> axes, const std::string& strategy, Timeout timeout,
               std::optional<std::int64_t> max_buffer) {
                RedistributeOptions options;
                options.axes = std::move(axes);
                options.strategy = strategy;
                options.deadline = Deadline::in(timeout);
                options.max_buffer = max_buffer;
                std::optional<DType> settled;
                if (!dtype.empty()) settled = DType{dtype, itemsize};
                new (self) Transfer(source, destination, settled, comm_of(comm), options);
            },
            "source"_a, "destination"_a, "dtype"_a, "itemsize"_a, "comm"_a, "axes"_a, "strategy"_a,
            "timeout"_a.none(), "max_buffer"_a.none(), unlocked)
        .def("start", &Transfer::start, "source"_a, "destination"_a, unlocked)
        .def("refuse", &Transfer::refuse, "kind"_a, "message"_a, unlocked)
        .def(
            "wait",
            [](Transfer& transfer, Timeout timeout) { transfer.wait(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked)
        .def(
            "run",
            [](Transfer& transfer, const Array* source, const Array* destination) {
                if (source == nullptr || destination == nullptr || !destination->writable())
                    return false;
                const nb::gil_scoped_release released;
                transfer(*source, *destination, Deadline::in({}));
                return true;
            },
            "source"_a.none(), "destination"_a.none(),
            "Starts it and waits; false if these are no arrays to start it with.")
        .def("test", &Transfer::test, unlocked)
        .def("free", &Transfer::free, unlocked)
        .def("operation", &Transfer::operation);
    m.def(
        "iredistribute",
        [](const Array& source, const Array& destination, std::vector<std::int64_t> axes,
           const std::string& strategy, std::optional<std::int64_t> max_buffer) {
            RedistributeOptions options;
            options.axes = std::move(axes);
            options.strategy = strategy;
            options.max_buffer = max_buffer;
            return iredistribute(source, destination, options);
        },
        "source"_a, "destination"_a, "axes"_a, "strategy"_a, "max_buffer"_a.none(), unlocked);
    m.def(
        "wait_first",
        [](const std::vector<std::shared_ptr<Operation>>& operations, Timeout timeout) {
            return wait_any(operations, Deadline::in(timeout));
        },
        "operations"_a, "timeout"_a.none(), unlocked);
}

}  // namespace hocket::python
