// SPDX-License-Identifier: BSD-3-Clause
// What hocket.computing takes from the room of arrays; `make demo` builds neither.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "hocket/binding.hpp"
#include "hocket/columns.hpp"
#include "hocket/computing.hpp"
#include "mpi_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {
namespace {

using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>;

std::span<const std::int64_t> span_of(const Numbers& numbers) {
    return {numbers.data(), numbers.shape(0)};
}

// A new array, and its memory, as Local.empty gives them.
nb::tuple with_memory(Array array) {
    auto bytes = memory_view(array.data(), array.room(), array.keep());
    return nb::make_tuple(std::move(array), std::move(bytes));
}

template <class Compute>
nb::tuple computed(const Compute& compute) {
    std::optional<Array> found;
    {
        const nb::gil_scoped_release released;
        found = compute();
    }
    return with_memory(*std::move(found));
}

}  // namespace

void bind_array(nb::module_& m) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    m.def("parts_along", &Binding::parts_along, "layout"_a, "dimension"_a,
          "One index of each part into which the processes divide a dimension.");

    m.def("number_of", &Binding::number_of, "layout"_a, "process"_a, "place"_a,
          "The row-major number of a process's element, by its place among them.");

    m.def("within_buffers", &Binding::within_buffers, "bytes"_a,
          "The most bytes of a temporary array.");

    m.def(
        "fold_columns",
        [](int fold, char kind, std::int64_t itemsize, std::uintptr_t results, std::uintptr_t first,
           std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
           std::int64_t column_stride) {
            const auto numbers = kind == 'f'   ? kernel::NumberKind::real
                                 : kind == 'i' ? kernel::NumberKind::integer
                                               : kernel::NumberKind::natural;
            kernel::fold_columns(
                static_cast<kernel::Fold>(fold), numbers, itemsize,
                reinterpret_cast<void*>(results),
                {reinterpret_cast<const void*>(first), rows, columns, row_stride, column_stride});
        },
        "fold"_a, "kind"_a, "itemsize"_a, "results"_a, "first"_a, "rows"_a, "columns"_a,
        "row_stride"_a, "column_stride"_a, unlocked,
        "Combines each column of numbers with its result: 0 adds, 1 takes the least, 2 the "
        "greatest.");
    m.def("truth", &Binding::truth, "array"_a, "any"_a, "call"_a, unlocked,
          "Whether all, or any, elements of an array of bool are true.");
    m.def(
        "allgather",
        [](std::uintptr_t comm, const std::string& call, const nb::bytes& row) {
            const auto bytes = static_cast<std::int64_t>(row.size());
            const Comm on = comm_of(comm);
            std::shared_ptr<const std::byte> all;
            {
                const nb::gil_scoped_release released;
                all = Binding::allgather(on, call, row.data(), bytes);
            }
            // NumPy reads bytes in a fraction of the time that a view of memory takes.
            return nb::bytes(all.get(), static_cast<std::size_t>(bytes * on.size()));
        },
        "comm"_a, "call"_a, "row"_a, "The rows of all processes, on every process.");
    m.def(
        "exchange",
        [](std::uintptr_t comm, const Numbers& to, std::uintptr_t records, std::int64_t bytes) {
            std::pair<std::shared_ptr<std::byte>, std::vector<std::int64_t>> found;
            {
                const nb::gil_scoped_release released;
                found = Binding::exchange(comm_of(comm), span_of(to),
                                          reinterpret_cast<const void*>(records), bytes);
            }
            std::int64_t count = 0;
            for (const std::int64_t each : found.second) count += each;
            auto* const data = found.first.get();
            return nb::make_tuple(memory_view(data, count * bytes, std::move(found.first)),
                                  found.second);
        },
        "comm"_a, "to"_a, "records"_a, "bytes"_a,
        "The records that arrive, and how many come from each process.");
    m.def(
        "divide",
        [](std::uintptr_t comm, std::int64_t bytes, const nb::callable& pick,
           const nb::callable& place, const Numbers& counts, const Numbers& wanted, bool together) {
            const auto bytes_of = [](const char* function, const nb::object& found,
                                     std::size_t size) {
                auto all = nb::cast<nb::bytes>(found);
                if (all.size() != size)
                    throw Error(std::string("the function ") + function +
                                " of a division of sorted rows returned " +
                                std::to_string(all.size()) + " bytes, not " + std::to_string(size));
                return all;
            };
            const auto pick_rows = [&](std::span<const std::int64_t> rows, std::byte* keys) {
                const nb::gil_scoped_acquire locked;
                const auto asked =
                    std::make_shared<std::vector<std::int64_t>>(rows.begin(), rows.end());
                const auto size = static_cast<std::int64_t>(rows.size_bytes());
                const nb::bytes found =
                    bytes_of("pick", pick(memory_view(asked->data(), size, asked)),
                             rows.size() * static_cast<std::size_t>(bytes));
                std::memcpy(keys, found.data(), found.size());
            };
            const auto place_keys = [&](const std::byte* keys, std::span<std::int64_t> before,
                                        std::span<std::int64_t> with_equals) {
                const nb::gil_scoped_acquire locked;
                const auto size = static_cast<std::int64_t>(before.size()) * bytes;
                const auto all = std::make_shared<std::vector<std::byte>>(keys, keys + size);
                const nb::bytes found = bytes_of(
                    "place", place(memory_view(all->data(), size, all)), 2 * before.size_bytes());
                std::memcpy(before.data(), found.data(), before.size_bytes());
                std::memcpy(with_equals.data(),
                            static_cast<const std::byte*>(found.data()) + before.size_bytes(),
                            before.size_bytes());
            };
            const nb::gil_scoped_release released;
            return Binding::divide(comm_of(comm), bytes, pick_rows, place_keys, span_of(counts),
                                   span_of(wanted), together);
        },
        "comm"_a, "bytes"_a, "pick"_a, "place"_a, "counts"_a, "wanted"_a, "together"_a,
        "For each process and each of wanted: how many of its sorted rows belong to the first.");
    m.def(
        "locate",
        [](const Layout& layout, const Numbers& numbers, std::uintptr_t owners,
           std::uintptr_t offsets) {
            Binding::locate(layout, span_of(numbers), reinterpret_cast<std::int64_t*>(owners),
                            reinterpret_cast<std::int64_t*>(offsets));
        },
        "layout"_a, "numbers"_a, "owners"_a, "offsets"_a, unlocked,
        "The owner of each element number, and the element's number there.");
    m.def(
        "fetch",
        [](const Array& array, const Numbers& numbers, std::uintptr_t values) {
            Binding::fetch(array, span_of(numbers), reinterpret_cast<void*>(values));
        },
        "array"_a, "numbers"_a, "values"_a, unlocked,
        "The elements of these row-major numbers, of any processes.");
    m.def(
        "store",
        [](const Array& array, const Numbers& numbers, std::uintptr_t values,
           const Numbers& turns) {
            Binding::store(array, span_of(numbers), reinterpret_cast<const void*>(values),
                           span_of(turns));
        },
        "array"_a, "numbers"_a, "values"_a, "turns"_a, unlocked,
        "Writes values to the elements of these numbers, in the order of turns.");

    m.def(
        "collect",
        [](const std::string& call, const Layout& layout, const std::vector<std::int64_t>& dims,
           std::uintptr_t comm, std::uintptr_t mine, std::int64_t bytes, const nb::callable& take) {
            using Bytes = std::vector<std::byte>;
            auto some = std::make_shared<Bytes>();  // of several parts, if they are few bytes
            std::int64_t parts = 0;
            const auto pass_on = [&] {
                const auto all = std::exchange(some, std::make_shared<Bytes>());
                const nb::gil_scoped_acquire locked;
                take(memory_view(all->data(), static_cast<std::int64_t>(all->size()), all),
                     std::exchange(parts, 0));
            };
            const nb::gil_scoped_release released;
            Binding::collect(call, layout, dims, comm_of(comm), reinterpret_cast<const void*>(mine),
                             bytes, [&](const std::byte* values, std::int64_t count) {
                                 some->insert(some->end(), values, values + count * bytes);
                                 ++parts;
                                 if (some->size() >= std::size_t{1} << 16) pass_on();
                             });
            if (parts > 0) pass_on();
        },
        "call"_a, "layout"_a, "dims"_a, "comm"_a, "mine"_a, "bytes"_a, "take"_a,
        "Brings partial results of a reduction to the processes of its result: take(bytes, parts)");

    m.def(
        "cshift",
        [](const Array& array, std::int64_t shift, std::int64_t dim) {
            return computed(
                [&] { return cshift(array, shift, {.dim = dim, .deadline = Deadline::in({})}); });
        },
        "array"_a, "shift"_a, "dim"_a);
    m.def(
        "eoshift",
        [](const Array& array, std::int64_t shift, std::uintptr_t boundary, std::int64_t dim) {
            return computed([&] {
                const auto* const beyond = reinterpret_cast<const void*>(boundary);
                return eoshift(array, shift, beyond, {.dim = dim, .deadline = Deadline::in({})});
            });
        },
        "array"_a, "shift"_a, "boundary"_a, "dim"_a);
    m.def("random_uniform", [](const Array& array, std::uint64_t seed, double low, double high) {
        const nb::gil_scoped_release release;
        random_uniform(array, seed, low, high);
    });
    m.def("random_normal",
          [](const Array& array, std::uint64_t seed, double mean, double deviation) {
              const nb::gil_scoped_release release;
              random_normal(array, seed, mean, deviation);
          });
    m.def("random_integers",
          [](const Array& array, std::uint64_t seed, std::uint64_t first, std::uint64_t count) {
              const nb::gil_scoped_release release;
              Binding::random_integers(array, seed, first, count);
          });
    m.def(
        "exact_sum",
        [](const Array& array, const std::vector<std::int64_t>& dims) {
            return computed([&] { return Binding::exact_sum(array, dims); });
        },
        "array"_a, "dims"_a, "The sums over some dimensions, exact and rounded once.");
    m.def(
        "exact_total",
        [](const Array& array) {
            std::vector<std::int64_t> dims(array.layout().dimensions());
            std::iota(dims.begin(), dims.end(), 0);
            std::optional<Array> total;
            {
                const nb::gil_scoped_release released;
                total = Binding::exact_sum(array, dims);
            }
            return nb::bytes(total->data(), static_cast<std::size_t>(array.dtype().size));
        },
        "array"_a, "The sum of all elements, exact and rounded once, as bytes.");
    m.def(
        "dot_product",
        [](const Array& a, const Array& b) {
            return computed([&] { return dot_product(a, b, {.deadline = Deadline::in({})}); });
        },
        "a"_a, "b"_a, "The exact sum of products, the first factors conjugated.");

    m.def(
        "pack",
        [](const Array& array, const Array& mask) {
            return computed([&] { return pack(array, mask, {.deadline = Deadline::in({})}); });
        },
        "array"_a, "mask"_a, "The elements at which a mask is true, in even parts.");
    m.def(
        "true_numbers",
        [](const Array& mask) { return computed([&] { return Binding::true_numbers(mask); }); },
        "mask"_a, "The row-major numbers of true elements, in even parts.");
    m.def("put", &Binding::put, "array"_a, "mask"_a, "vector"_a, unlocked,
          "Writes a vector's elements to those at which the mask is true.");
}

}  // namespace hocket::python
