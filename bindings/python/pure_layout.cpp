// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "hocket/layout.hpp"
#include "pure_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Format;
using hocket::Layout;
using hocket::Shape;

namespace {

nb::tuple tuple_of(const Shape& values) {
    return nb::tuple(nb::cast(values));
}

nb::object array_of(std::vector<std::int64_t> values) {
    auto* kept = new std::vector<std::int64_t>(std::move(values));
    const nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    const std::size_t size = kept->size();
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(kept->data(), {size}, owner));
}

std::vector<hocket::Slice> slices_of(
    const std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>>& given) {
    std::vector<hocket::Slice> slices;
    for (const auto& [first, count, step, keep] : given)
        slices.push_back({first, count, step, keep});
    return slices;
}

// Positions first + step * k as Python's slice, whose end of None is the one before the first.
nb::object slice_of(const hocket::Slice& slice) {
    const std::int64_t stop =
        slice.first +
        (slice.count == 0 ? 0 : slice.step * (slice.count - 1) + (slice.step > 0 ? 1 : -1));
    return nb::steal(PySlice_New(nb::cast(slice.first).ptr(),
                                 (stop < 0 ? nb::none() : nb::cast(stop)).ptr(),
                                 nb::cast(slice.step).ptr()));
}

// The index of the section's elements in the local array; None if there are none.
nb::object local_section(const Layout& layout, const std::vector<hocket::Slice>& slices,
                         std::int64_t rank) {
    const auto found = layout.section_slices(slices, rank);
    std::vector<std::vector<std::int64_t>> lists;
    for (const auto& each : found)
        if (!each && lists.empty()) lists = layout.section_places(slices, rank);
    nb::list index;
    for (std::size_t d = 0; d < found.size(); ++d) {
        const bool keep = layout.is_indexed() || slices[d].keep;
        if (found[d] && found[d]->count == 0 && (layout.is_indexed() || !keep)) return nb::none();
        if (!found[d])
            index.append(array_of(std::move(lists[d])));
        else if (keep)
            index.append(slice_of(*found[d]));
        else
            index.append(found[d]->first);
    }
    return nb::tuple(index);
}

using SegmentArray = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig>;

Layout indexed(const Shape& shape, const std::vector<SegmentArray>& lists) {
    std::vector<std::vector<hocket::Segment>> segments;
    for (const SegmentArray& list : lists) {
        std::vector<hocket::Segment>& own = segments.emplace_back();
        own.reserve(list.shape(0));
        for (std::size_t i = 0; i < list.shape(0); ++i)
            own.push_back({list.data()[2 * i], list.data()[2 * i + 1]});
    }
    return Layout::indexed(shape, segments);
}

using IntegerArray = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>;

std::span<const std::int64_t> span_of(const IntegerArray& array) {
    return {array.data(), array.shape(0)};
}

Layout boxes(const Shape& shape, const std::vector<std::pair<Shape, Shape>>& pairs) {
    std::vector<hocket::IndexBox> boxes;
    for (const auto& [start, stop] : pairs) boxes.push_back({start, stop});
    return Layout::boxes(shape, boxes);
}

using BoxArray = nb::ndarray<const std::int64_t, nb::shape<-1, 2, -1>, nb::c_contig>;

Layout boxes_of_array(const Shape& shape, const BoxArray& bounds) {
    std::vector<hocket::IndexBox> boxes(bounds.shape(0));
    const std::size_t dimensions = bounds.shape(2);
    const std::int64_t* next = bounds.data();
    for (auto& [start, stop] : boxes) {
        start.assign(next, next + dimensions);
        stop.assign(next + dimensions, next + 2 * dimensions);
        next += 2 * dimensions;
    }
    return Layout::boxes(shape, boxes);
}

Layout elements(const Shape& shape, const std::vector<IntegerArray>& arrays) {
    std::vector<std::vector<std::int64_t>> lists;
    for (const IntegerArray& array : arrays) {
        const auto list = span_of(array);
        lists.emplace_back(list.begin(), list.end());
    }
    return Layout::elements(shape, lists);
}

Layout from_blacs(const hocket::BlacsDescriptor& descriptor, std::int64_t rows,
                  std::int64_t columns, const std::vector<std::int64_t>& processes,
                  std::int64_t rank, bool transposed) {
    return Layout::from_blacs(descriptor, {rows, columns, processes}, rank, transposed);
}

}  // namespace

void bind_layout(nb::module_& m) {
    nb::class_<Format>(m, "Format", "How one dimension is distributed; see hocket.Format.")
        .def("__init__", [](Format* self,
                            const std::string& text) { new (self) Format(std::string_view(text)); })
        .def_static("indirect",
                    [](const IntegerArray& owners) { return Format::indirect(span_of(owners)); })
        .def_static("gen_block",
                    [](const IntegerArray& extents) { return Format::gen_block(span_of(extents)); })
        .def("text", &Format::text);
    nb::class_<Layout>(m, "Layout", "How a global array lies over processes; see hocket.Layout.")
        .def(
            "__init__",
            [](Layout* self, Shape shape, const std::string& dist, Shape procs,
               const std::vector<std::int64_t>& replicate) {
                new (self) Layout(std::move(shape), dist, std::move(procs), replicate);
            },
            "shape"_a, "dist"_a, "procs"_a, "replicate"_a)
        .def(
            "__init__",
            [](Layout* self, Shape shape, const std::vector<Format>& formats, Shape procs,
               const std::vector<std::int64_t>& replicate) {
                new (self) Layout(std::move(shape), formats, std::move(procs), replicate);
            },
            "shape"_a, "dist"_a, "procs"_a, "replicate"_a)
        .def_static(
            "parse", [](const std::string& text) { return Layout::parse(text); }, "text"_a)
        .def_static(
            "parse_with",
            [](const std::string& text, const Shape& shape) { return Layout::parse(text, shape); },
            "text"_a, "shape"_a)
        .def_static("aligned",
                    [](const Shape& shape, const std::string& align, const Layout& target) {
                        return Layout::aligned(shape, align, target);
                    })
        .def_static("indexed", &indexed)
        .def_static("boxes", &boxes_of_array)
        .def_static("boxes", &boxes)
        .def_static("elements", &elements)
        .def_static("from_blacs", &from_blacs)
        .def_static("from_hpf",
                    [](const std::string& text,
                       const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
                        return Layout::from_hpf(text, parameters);
                    })
        .def("section",
             [](const Layout& self,
                const std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>>&
                    slices) { return self.section(slices_of(slices)); })
        .def("local_section",
             [](const Layout& self,
                const std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>>&
                    slices,
                std::int64_t rank) { return local_section(self, slices_of(slices), rank); })
        .def("relabeled", [](const Layout& self, const std::vector<std::int64_t>& ranks,
                             std::int64_t size) { return self.relabeled(ranks, size); })
        .def_prop_ro("is_indexed", &Layout::is_indexed)
        .def_prop_ro("shape", [](const Layout& self) { return tuple_of(self.shape()); })
        .def_prop_ro("dist", &Layout::dist)
        .def_prop_ro("procs", [](const Layout& self) { return tuple_of(self.procs()); })
        .def_prop_ro("replicate", [](const Layout& self) { return tuple_of(self.replicate()); })
        .def_prop_ro("size", &Layout::size)
        .def_prop_ro("num_elements", &Layout::num_elements)
        .def("slices",
             [](const Layout& self, std::int64_t rank) {
                 nb::list result;
                 for (const auto& [first, count, step, keep] : self.slices(rank))
                     result.append(nb::make_tuple(first, count, step));
                 return result;
             })
        .def("to_boxes",
             [](const Layout& self) {
                 nb::list result;
                 for (const auto& [start, stop] : self.to_boxes())
                     result.append(nb::make_tuple(tuple_of(start), tuple_of(stop)));
                 return result;
             })
        .def("to_blacs", &Layout::to_blacs)
        .def("blacs_grid",
             [](const Layout& self, bool transposed) {
                 const auto [rows, columns, processes] = self.blacs_grid(transposed);
                 return nb::make_tuple(rows, columns, processes);
             })
        .def("local_shape",
             [](const Layout& self, std::int64_t rank) { return tuple_of(self.local_shape(rank)); })
        .def("local_elements", &Layout::local_elements)
        .def("global_indices",
             [](const Layout& self, std::int64_t rank) {
                 nb::list result;
                 for (std::vector<std::int64_t>& indices : self.global_indices(rank))
                     result.append(array_of(std::move(indices)));
                 return result;
             })
        .def("owners", [](const Layout& self,
                          const std::vector<std::int64_t>& index) { return self.owners(index); })
        .def("owner", [](const Layout& self,
                         const std::vector<std::int64_t>& index) { return self.owner(index); })
        .def("local_index",
             [](const Layout& self, const std::vector<std::int64_t>& index) {
                 return tuple_of(self.local_index(index));
             })
        .def("text", &Layout::text)
        .def("hash", [](const Layout& self) { return static_cast<std::uint64_t>(self.hash()); })
        .def("equals", [](const Layout& self, const Layout& other) { return self == other; });
}
