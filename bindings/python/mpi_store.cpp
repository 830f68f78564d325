// SPDX-License-Identifier: BSD-3-Clause
// hocket._mpi.Store: a store that processes read and write together; checkpoints.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "hocket/binding.hpp"
#include "hocket/store.hpp"
#include "mpi_binding.hpp"
#include "store_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {
namespace {

using Timeout = std::optional<double>;
using Region = std::optional<std::pair<Shape, Shape>>;
using Bytes = std::optional<std::int64_t>;

StoreOptions options_of(const Region& region, std::int64_t writers, Bytes max_buffer,
                        std::vector<std::int64_t> axes, std::string dtype, bool copy) {
    StoreOptions options;
    if (region) options.region = IndexBox{region->first, region->second};
    options.writers = writers;
    options.max_buffer = max_buffer;
    options.axes = std::move(axes);
    options.dtype = std::move(dtype);
    options.copy = copy;
    return options;
}

}  // namespace

void bind_store(nb::module_& m) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    nb::class_<Store>(m, "Store", "A store that processes write and read together.")
        .def_static(
            "open",
            [](const std::string& path, const std::string& mode, std::uintptr_t comm,
               Timeout timeout) {
                return Store::open(path, mode, comm_of(comm), Deadline::in(timeout));
            },
            "path"_a, "mode"_a, "comm"_a, "timeout"_a.none(), unlocked)
        .def("files", &Store::files)
        .def("mode", &Store::mode)
        .def(
            "create",
            [](Store& store, const std::string& name, const Shape& shape, const std::string& dtype,
               std::int64_t itemsize, const Shape& chunks, const Shape& shards,
               const std::string& codec, const std::string& fill,
               const std::vector<std::string>& dimension_names, const std::string& attributes,
               Timeout timeout) {
                const CreateOptions options{chunks, shards,          codec,
                                            fill,   dimension_names, attributes};
                store.create(name, shape, {dtype, itemsize}, options, Deadline::in(timeout));
            },
            "name"_a, "shape"_a, "dtype"_a, "itemsize"_a, "chunks"_a, "shards"_a, "codec"_a,
            "fill"_a, "dimension_names"_a, "attributes"_a, "timeout"_a.none(), unlocked)
        .def(
            "set_attributes",
            [](Store& store, const std::string& json, Timeout timeout) {
                store.set_attributes(json, Deadline::in(timeout));
            },
            "json"_a, "timeout"_a.none(), unlocked)
        .def(
            "iwrite",
            [](Store& store, const std::string& name, const Array& array, const Region& region,
               std::int64_t writers, Bytes max_buffer, bool copy, bool later) {
                const auto options = options_of(region, writers, max_buffer, {}, {}, copy);
                return later ? store.write_later(name, array, options)
                             : store.iwrite(name, array, options);
            },
            "name"_a, "array"_a, "region"_a.none(), "writers"_a, "max_buffer"_a.none(), "copy"_a,
            "later"_a, unlocked)
        .def(
            "iread",
            [](Store& store, const std::string& name, const Array& array, const Region& region,
               std::int64_t writers, Bytes max_buffer, const std::vector<std::int64_t>& axes,
               const std::string& dtype, bool later) {
                const auto options = options_of(region, writers, max_buffer, axes, dtype, false);
                return later ? store.read_later(name, array, options)
                             : store.iread(name, array, options);
            },
            "name"_a, "array"_a, "region"_a.none(), "writers"_a, "max_buffer"_a.none(), "axes"_a,
            "dtype"_a, "later"_a, unlocked)
        .def(
            "append",
            [](Store& store, const std::string& name, const Array& array, std::int64_t writers,
               Bytes max_buffer, Timeout timeout) {
                auto options = options_of({}, writers, max_buffer, {}, {}, false);
                options.deadline = Deadline::in(timeout);
                store.append(name, array, options);
            },
            "name"_a, "array"_a, "writers"_a, "max_buffer"_a.none(), "timeout"_a.none(), unlocked)
        .def(
            "close", [](Store& store, Timeout timeout) { store.close(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked)
        .def("forget_unfinished", [](Store& store) { Binding::forget_unfinished(store); })
        .def("leave", &Store::leave);
    m.def(
        "save",
        [](const std::string& path, const NamedArrays& arrays, const std::string& attributes,
           const std::string& codec, std::int64_t keep, Bytes max_buffer, Timeout timeout) {
            save(path, arrays, {attributes, codec, keep, max_buffer, Deadline::in(timeout)});
        },
        "path"_a, "arrays"_a, "attributes"_a, "codec"_a, "keep"_a, "max_buffer"_a.none(),
        "timeout"_a.none(), unlocked);
    m.def(
        "checkpoint_path",
        [](const std::string& path, std::uintptr_t comm, Timeout timeout) {
            return checkpoint_path(path, comm_of(comm), Deadline::in(timeout));
        },
        "path"_a, "comm"_a, "timeout"_a.none(), unlocked);
    m.def("plan_store", &Binding::plan_store, "layout"_a, "chunks"_a, "shards"_a, "rank"_a,
          "writing"_a, unlocked);
    m.def("store_counts", [] {
        const auto counts = store_counts();
        nb::dict out;
        out["opened"] = counts.opened;
        out["reads"] = counts.reads;
        out["writes"] = counts.writes;
        out["bytes_read"] = counts.bytes_read;
        out["bytes_written"] = counts.bytes_written;
        out["seeks"] = counts.seeks;
        return out;
    });
}

}  // namespace hocket::python
