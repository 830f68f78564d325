// SPDX-License-Identifier: BSD-3-Clause
// Fortran's arrays: column-major, with extents known to the compiler; and texts that count from 1.
#include <algorithm>

#include "dtype.hpp"
#include "halo_make.hpp"
#include "handles.hpp"
#include "hocket/memory.hpp"
#include "hocket/mpi.hpp"
#include "hocket/remap.hpp"
#include "hocket/transfer.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Layout;
using hocket::Shape;

namespace {

std::string text_of(const Shape& extents) {
    std::string out;
    for (const auto extent : extents) out += (out.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + out + ")";
}

// Compares an array's extents in Fortran with the expected ones.
Shape checked_extents(std::int64_t dimensions, const std::int64_t* extents, const Shape& wanted,
                      const std::string& whose) {
    const auto given = by_dimension(dimensions, extents, "extents");
    const Shape shape(given.begin(), given.end());
    const bool nothing = std::ranges::count(shape, 0) > 0 && std::ranges::count(wanted, 0) > 0;
    if (shape.size() != wanted.size() || (shape != wanted && !nothing))
        throw ArgumentError("the Fortran array has shape " + text_of(shape) + ", but " + whose +
                            " has shape " + text_of(wanted) + "; declare or allocate it so");
    return shape;
}

Shape strides_of(std::int64_t dimensions, const std::int64_t* strides) {
    const auto given = by_dimension(dimensions, strides, "strides");
    return {given.begin(), given.end()};
}

std::string local_array_of(const Layout& layout, std::int64_t process) {
    return "the local array of process " + std::to_string(process) + " of " + layout.text();
}

void require_dtype(const Array& array, const char* dtype) {
    if (array.dtype().name != hocket::c::text_of(dtype, "dtype"))
        throw hocket::MismatchError("the Fortran array holds " + std::string(dtype) +
                                    ", but the distributed array " + array.dtype().name +
                                    "; declare it with that kind");
}

void require_rank(const Array& array, std::int64_t dimensions) {
    if (static_cast<std::int64_t>(array.local_shape().size()) != dimensions)
        throw hocket::MismatchError("the pointer has rank " + std::to_string(dimensions) +
                                    ", but " + local_array_of(array.layout(), array.process()) +
                                    " has shape " + text_of(array.local_shape()) +
                                    "; declare it with that rank");
}

// "(BLOCK, CYCLIC(3), *)" becomes "(*, CYCLIC(3), BLOCK)".
std::string mirrored(const std::string& dist) {
    std::vector<std::string> formats{""};
    int depth = 0;
    for (const char c : dist.substr(1, dist.size() - 2)) {
        depth += (c == '(') - (c == ')');
        if (c == ',' && depth == 0)
            formats.emplace_back();
        else
            formats.back() += c;
    }
    std::string out;
    for (auto format = formats.rbegin(); format != formats.rend(); ++format)
        out += (out.empty() ? "(" : ", ") + *format;
    return out + ")";
}

// The same parts with reversed dimensions, for which the memory is row-major.
Layout mirrored(const Layout& layout) {
    const Shape& procs = layout.procs();
    const auto several = std::ranges::count_if(procs, [](std::int64_t p) { return p > 1; });
    if (layout.is_indexed() || !layout.dist().starts_with('(') || several > 1)
        throw hocket::LayoutError(
            "a column-major array is permuted within its own memory where it is distributed along "
            "one dimension of the processor arrangement, by formats; " +
            layout.text() + " is not: use hocket_redistribute with order=");
    Shape replicate;
    for (const auto position : layout.replicate())
        replicate.insert(replicate.begin(), static_cast<std::int64_t>(procs.size()) - 1 - position);
    return {Shape(layout.shape().rbegin(), layout.shape().rend()), mirrored(layout.dist()),
            Shape(procs.rbegin(), procs.rend()), replicate};
}

Array wrap(void* data, std::int64_t dimensions, const std::int64_t* extents,
           const std::int64_t* strides, const Layout& layout, const hocket::DType& dtype, int comm,
           bool writable) {
    const hocket::Comm on = hocket::from_fortran(comm);
    const std::int64_t process = on.rank() < layout.size() ? on.rank() : -1;
    const Shape wanted =
        process >= 0 ? layout.local_shape(process) : Shape(layout.local_shape(0).size(), 0);
    const auto shape =
        checked_extents(dimensions, extents, wanted, local_array_of(layout, process));
    if (std::ranges::count(shape, 0) == 0) require(data, "data");
    return Array::wrap(data, layout, dtype, on, strides_of(dimensions, strides), {}, writable);
}

// The options of scatter and gather for the whole array on its root.
hocket::RedistributeOptions rooted(const char* function, const Array& array, const void* whole,
                                   std::int64_t dimensions, const std::int64_t* extents,
                                   const std::int64_t* strides, const char* dtype, int root,
                                   double timeout) {
    return arguments_of(
        function,
        [&] {
            hocket::RedistributeOptions options;
            options.deadline = deadline_of(timeout);
            try {
                require_dtype(array, dtype);
            } catch (const hocket::MismatchError& error) {
                throw ArgumentError(error.what());
            }
            if (array.comm().rank() != root) return options;
            const auto shape =
                checked_extents(dimensions, extents, array.layout().shape(),
                                "the global array of " + array.layout().text() + " on its root");
            if (array.layout().num_elements() > 0) require(whole, "whole");
            if (!shape.empty()) options.whole_strides = strides_of(dimensions, strides);
            return options;
        },
        [&](const std::string& message) {
            hocket::Binding::refuse(array.comm(), argument_error, message);
        });
}

}  // namespace

int hocket_layout_aligned_fortran(int64_t dimensions, const int64_t* shape, const char* align,
                                  const hocket_layout* target, hocket_layout** layout) {
    return guard(__func__, [&] {
        const auto extents = by_dimension(dimensions, shape, "shape");
        give(layout, Layout::aligned({extents.begin(), extents.end()},
                                     hocket::c::text_of(align, "align"), behind(target)->value, 1));
    });
}

int hocket_array_wrap_fortran(void* data, int64_t dimensions, const int64_t* extents,
                              const int64_t* strides, const hocket_layout* layout,
                              const char* dtype, int64_t itemsize, int comm, hocket_array** array) {
    return guard(__func__, [&] {
        give(array, wrap(data, dimensions, extents, strides, behind(layout)->value,
                         dtype_of_name(dtype, itemsize), comm, true));
    });
}

int hocket_array_wrap_const_fortran(const void* data, int64_t dimensions, const int64_t* extents,
                                    const int64_t* strides, const hocket_layout* layout,
                                    const char* dtype, int64_t itemsize, int comm,
                                    hocket_array** array) {
    return guard(__func__, [&] {
        give(array, wrap(const_cast<void*>(data), dimensions, extents, strides,
                         behind(layout)->value, dtype_of_name(dtype, itemsize), comm, false));
    });
}

int hocket_array_empty_fortran(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                               int comm, hocket_array** array) {
    return guard(__func__, [&] {
        const auto row_major = Array::empty(behind(layout)->value, dtype_of_name(dtype, itemsize),
                                            hocket::from_fortran(comm));
        give(array,
             Array::wrap(row_major.data(), row_major.layout(), row_major.dtype(), row_major.comm(),
                         hocket::dense_strides(row_major.local_shape(), row_major.dtype().size,
                                               hocket::Order::column_major),
                         row_major.keep(), true, row_major.room()));
    });
}

int hocket_array_data_fortran(const hocket_array* array, const char* dtype, int64_t dimensions,
                              int64_t* extents, void** data) {
    return guard(__func__, [&] {
        const Array& held = behind(array)->value;
        require_dtype(held, dtype);
        require_rank(held, dimensions);
        if (!hocket::Binding::is_column_major(held))
            throw hocket::MismatchError(
                "the local array has strides of " + text_of(held.strides()) +
                " bytes, and a pointer of Fortran's needs dense column-major memory; use the array "
                "that was wrapped, one of hocket_array_empty, or hocket_halo_data");
        require(extents, "extents");
        void*& place = required(data, "data");
        std::ranges::copy(held.local_shape(), extents);
        place = held.data();
    });
}

int hocket_halo_make_fortran(const hocket_array* array, const int64_t* width, const bool* periodic,
                             hocket_halo** halo) {
    return guard(__func__,
                 [&] { give(halo, halo_of(array, width, periodic, hocket::Order::column_major)); });
}

int hocket_halo_data_fortran(const hocket_halo* halo, const char* dtype, int64_t dimensions,
                             int64_t* extents, void** data) {
    return guard(__func__, [&] {
        const auto held = behind(halo);
        require_dtype(held->value.array(), dtype);
        require_rank(held->value.array(), dimensions);
        require(extents, "extents");
        void*& place = required(data, "data");
        std::ranges::copy(held->value.local_shape(), extents);
        place = held->value.data();
    });
}

int hocket_scatter_fortran(const void* whole, int64_t dimensions, const int64_t* extents,
                           const int64_t* strides, hocket_array* destination, const char* dtype,
                           int root, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto array = behind(destination);
        hocket::scatter(whole, array->value, root,
                        rooted(function, array->value, whole, dimensions, extents, strides, dtype,
                               root, timeout));
    });
}

int hocket_gather_fortran(const hocket_array* source, void* whole, int64_t dimensions,
                          const int64_t* extents, const int64_t* strides, const char* dtype,
                          int root, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto array = behind(source);
        hocket::gather(array->value, whole, root,
                       rooted(function, array->value, whole, dimensions, extents, strides, dtype,
                              root, timeout));
    });
}

int hocket_remap_inplace_fortran(hocket_array* array, int64_t dimensions, const int64_t* axes,
                                 int threads, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(array);
        Array& whole = held->value;
        struct Arguments {
            Array row_major;
            Layout becomes;
            std::vector<std::int64_t> axes;
            hocket::RemapOptions options;
        };
        const auto asked = [&] {
            const auto order = by_dimension(dimensions, axes, "axes");
            if (order.size() != whole.layout().dimensions())
                throw ArgumentError("'order' has " + std::to_string(dimensions) +
                                    " entries for an array of " +
                                    std::to_string(whole.layout().dimensions()) + " dimensions");
            if (threads < 0)
                throw ArgumentError("'threads' is " + std::to_string(threads) + "; give 0 or more");
            if (!hocket::Binding::is_column_major(whole))
                throw ArgumentError("the local array has strides of " + text_of(whole.strides()) +
                                    " bytes, and must be dense and column-major");
            std::vector<std::int64_t> mirror;
            for (auto axis = order.rbegin(); axis != order.rend(); ++axis)
                mirror.push_back(dimensions - 1 - *axis);
            Arguments all{
                Array::wrap(whole.data(), mirrored(whole.layout()), whole.dtype(), whole.comm(), {},
                            whole.keep(), whole.writable(), whole.room()),
                hocket::remap_layout(whole.layout(), order),
                mirror,
                {}};
            all.options.threads = threads;
            all.options.deadline = deadline_of(timeout);
            return all;
        };
        const auto refuse = [&](const char* kind, const std::string& message) {
            hocket::Binding::refuse(whole.comm(), kind, message);
        };
        std::optional<Arguments> given;
        try {
            given = asked();
        } catch (const hocket::LayoutError& error) {
            refuse("LayoutError", error.what());
            throw;
        } catch (const ArgumentError& error) {
            refuse(argument_error, called(function) + ": " + error.what());
            throw;
        } catch (const hocket::Error& error) {
            refuse("Error", called(function) + ": " + error.what());
            throw;
        }
        const Array done = hocket::remap_inplace(given->row_major, given->axes, given->options);
        const Shape& mirror = done.local_shape();
        whole = Array::wrap(done.data(), given->becomes, done.dtype(), done.comm(),
                            hocket::dense_strides({mirror.rbegin(), mirror.rend()},
                                                  done.dtype().size, hocket::Order::column_major),
                            done.keep(), true, done.room());
    });
}
