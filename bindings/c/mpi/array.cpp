// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/array.hpp"

#include <algorithm>

#include "dtype.hpp"
#include "handles.hpp"
#include "hocket/mpi.hpp"
#include "slices.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Shape;

namespace {

Array wrap(void* data, const hocket_layout* layout, const char* dtype, std::int64_t itemsize,
           MPI_Comm comm, const std::int64_t* strides, bool writable) {
    const auto lies = behind(layout);
    const hocket::DType type = dtype_of_name(dtype, itemsize);
    const hocket::Comm on = hocket::from_mpi(comm);
    std::optional<Shape> steps;
    if (strides != nullptr) {
        // One for each dimension of the local array; every process's array has the same number.
        steps = Shape(strides, strides + lies->value.local_shape(0).size());
    }
    const std::int64_t held = on.rank() < std::min<std::int64_t>(lies->value.size(), on.size())
                                  ? lies->value.local_elements(on.rank())
                                  : 0;
    if (data == nullptr && held > 0)
        throw ArgumentError("'data' is NULL, but process " + std::to_string(on.rank()) + " holds " +
                            std::to_string(held) + " elements of " + lies->value.text() +
                            "; give their address");
    return Array::wrap(data, lies->value, type, on, std::move(steps), {}, writable);
}

}  // namespace

int hocket_array_empty(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                       MPI_Comm comm, hocket_array** array) {
    return guard(__func__, [&] {
        const auto lies = behind(layout);
        give(array,
             Array::empty(lies->value, dtype_of_name(dtype, itemsize), hocket::from_mpi(comm)));
    });
}

int hocket_array_wrap(void* data, const hocket_layout* layout, const char* dtype, int64_t itemsize,
                      MPI_Comm comm, const int64_t* strides, hocket_array** array) {
    return guard(__func__,
                 [&] { give(array, wrap(data, layout, dtype, itemsize, comm, strides, true)); });
}

int hocket_array_wrap_const(const void* data, const hocket_layout* layout, const char* dtype,
                            int64_t itemsize, MPI_Comm comm, const int64_t* strides,
                            hocket_array** array) {
    return guard(__func__, [&] {
        give(array, wrap(const_cast<void*>(data), layout, dtype, itemsize, comm, strides, false));
    });
}

int hocket_array_section(const hocket_array* array, const hocket_slice* slices,
                         hocket_array** section) {
    return guard(__func__, [&] {
        const auto held = behind(array);
        give(section, held->value.section(slices_of(held->value.layout(), slices)));
    });
}

int hocket_array_astype(const hocket_array* array, const char* dtype, hocket_array** result) {
    return guard(__func__, [&] {
        const auto held = behind(array);
        const std::string name = hocket::c::text_of(dtype, "dtype");
        give(result, astype(held->value, {name, hocket::Binding::number_bytes(name)}));
    });
}

int hocket_array_free(hocket_array** array) {
    return free_handle(__func__, array);
}

int hocket_array_data(const hocket_array* array, void** data) {
    return guard(__func__, [&] { required(data, "data") = behind(array)->value.data(); });
}

int hocket_array_layout(const hocket_array* array, hocket_layout** layout) {
    return guard(__func__, [&] { give(layout, behind(array)->value.layout()); });
}

int hocket_array_dtype(const hocket_array* array, const char** dtype, int64_t* itemsize) {
    return guard(__func__, [&] {
        const auto held = behind(array);
        const char*& name = required(dtype, "dtype");
        required(itemsize, "itemsize") = held->value.dtype().size;
        name = held->value.dtype().name.c_str();
    });
}

int hocket_array_comm(const hocket_array* array, MPI_Comm* comm) {
    return guard(__func__,
                 [&] { required(comm, "comm") = hocket::to_mpi(behind(array)->value.comm()); });
}

int hocket_array_local_shape(const hocket_array* array, int64_t capacity, int64_t* values,
                             int64_t* count) {
    return guard(__func__,
                 [&] { write_list(behind(array)->value.local_shape(), capacity, values, count); });
}

int hocket_array_strides(const hocket_array* array, int64_t capacity, int64_t* values,
                         int64_t* count) {
    return guard(__func__,
                 [&] { write_list(behind(array)->value.strides(), capacity, values, count); });
}

int hocket_array_writable(const hocket_array* array, bool* writable) {
    return guard(__func__,
                 [&] { required(writable, "writable") = behind(array)->value.writable(); });
}

int hocket_array_process(const hocket_array* array, int64_t* process) {
    return guard(__func__, [&] { required(process, "process") = behind(array)->value.process(); });
}

int hocket_dense_strides(int64_t dimensions, const int64_t* shape, int64_t itemsize,
                         int64_t* strides) {
    return guard(__func__, [&] {
        const auto extents = by_dimension(dimensions, shape, "shape");
        const auto found = hocket::dense_strides({extents.begin(), extents.end()}, itemsize);
        if (!found.empty()) write_list(found, dimensions, &required(strides, "strides"), nullptr);
    });
}
