// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/remap.hpp"

#include "dtype.hpp"
#include "handles.hpp"
#include "hocket/mpi.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Layout;

namespace {

std::span<const std::int64_t> axes_of(const Layout& layout, const std::int64_t* axes) {
    return list(static_cast<std::int64_t>(layout.dimensions()), axes, "axes");
}

std::int64_t checked_room(std::int64_t room) {
    if (room < 0)
        throw ArgumentError("'room' is " + std::to_string(room) + " bytes; give 0 or more");
    return room;
}

}  // namespace

int hocket_remap_layout(const hocket_layout* layout, const int64_t* axes,
                        hocket_layout** remapped) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        give(remapped, hocket::remap_layout(held->value, axes_of(held->value, axes)));
    });
}

int hocket_remap_room(const hocket_layout* layout, const int64_t* axes, int64_t rank,
                      int64_t* elements) {
    return guard(__func__, [&] {
        const auto held = behind(layout);
        required(elements, "elements") =
            hocket::remap_room(held->value, axes_of(held->value, axes), rank);
    });
}

int hocket_remap_inplace(hocket_array* array, const int64_t* axes, int threads, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(array);
        hocket::RemapOptions options;
        const auto order = arguments_of(
            function,
            [&] {
                options.threads = threads;
                options.deadline = deadline_of(timeout);
                if (threads < 0)
                    throw ArgumentError("'threads' is " + std::to_string(threads) +
                                        "; give 0 or more");
                return axes_of(held->value.layout(), axes);
            },
            [&](const std::string& message) {
                hocket::Binding::refuse(held->value.comm(), argument_error, message);
            });
        held->value = hocket::remap_inplace(held->value, order, options);
    });
}

int hocket_array_empty_with_room(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                                 MPI_Comm comm, int64_t room, hocket_array** array) {
    return guard(__func__, [&] {
        const auto lies = behind(layout);
        give(array, Array::empty(lies->value, dtype_of_name(dtype, itemsize),
                                 hocket::from_mpi(comm), checked_room(room)));
    });
}

int hocket_array_wrap_with_room(void* data, int64_t room, const hocket_layout* layout,
                                const char* dtype, int64_t itemsize, MPI_Comm comm,
                                hocket_array** array) {
    return guard(__func__, [&] {
        const auto lies = behind(layout);
        if (checked_room(room) > 0) require(data, "data");
        Array made = Array::wrap(data, lies->value, dtype_of_name(dtype, itemsize),
                                 hocket::from_mpi(comm), {}, {}, true, room);
        if (made.room() > room)
            throw ArgumentError("there is room for " + std::to_string(room) +
                                " bytes at 'data', but the local array alone has " +
                                std::to_string(made.room()));
        give(array, std::move(made));
    });
}

int hocket_array_room(const hocket_array* array, int64_t* bytes) {
    return guard(__func__, [&] { required(bytes, "bytes") = behind(array)->value.room(); });
}
