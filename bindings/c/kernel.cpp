// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/kernel.hpp"

#include "handles.hpp"

using namespace hocket::c;
using hocket::Shape;
using hocket::kernel::Copy;
using hocket::kernel::Stores;

namespace {

Stores stores_of(int stores) {
    if (stores == HOCKET_STORES_AUTOMATIC) return Stores::automatic;
    if (stores == HOCKET_STORES_CACHED) return Stores::cached;
    if (stores == HOCKET_STORES_STREAMING) return Stores::streaming;
    throw ArgumentError("there are no stores " + std::to_string(stores) +
                        "; give HOCKET_STORES_AUTOMATIC, _CACHED or _STREAMING");
}

const hocket_permute_options no_options{};

hocket::kernel::InplaceOptions inplace_options(const hocket_permute_options* given) {
    const auto& [threads, schedule, stores, method, cap] = given != nullptr ? *given : no_options;
    hocket::kernel::InplaceOptions options;
    options.threads = threads;
    if (schedule != nullptr) options.schedule = schedule;
    if (method != nullptr) options.method = method;
    if (cap != nullptr) options.cap = *cap;
    return options;
}

std::int64_t elements_of(std::span<const std::int64_t> shape) {
    std::int64_t elements = 1;
    for (const auto extent : shape)
        if (__builtin_mul_overflow(elements, extent, &elements))
            throw hocket::Error("the array has more than 2^63 elements");
    return elements;
}

// The caller's strides, or dense ones.
Shape strides_of(std::span<const std::int64_t> shape, const std::int64_t* strides,
                 std::int64_t itemsize) {
    if (strides != nullptr) return Shape(strides, strides + shape.size());
    // Detects overflow first, because the strides do not.
    std::int64_t bytes = elements_of(shape);
    if (__builtin_mul_overflow(bytes, itemsize, &bytes))
        throw hocket::Error("the array has more than 2^63 bytes");
    return hocket::dense_strides(Shape(shape.begin(), shape.end()), itemsize);
}

}  // namespace

int hocket_copy_make(int64_t dimensions, const int64_t* extents, int64_t itemsize,
                     const int64_t* source_strides, const int64_t* destination_strides,
                     hocket_copy** copy) {
    return guard(__func__, [&] {
        give(copy, Copy(by_dimension(dimensions, extents, "extents"), itemsize,
                        by_dimension(dimensions, source_strides, "source_strides"),
                        by_dimension(dimensions, destination_strides, "destination_strides")));
    });
}

int hocket_copy_run(const hocket_copy* copy, const void* source, void* destination, int threads,
                    int stores) {
    return guard(__func__, [&] {
        const auto held = behind(copy);
        const Stores how = stores_of(stores);
        if (threads < 1)
            throw ArgumentError("'threads' is " + std::to_string(threads) + "; give 1 or more");
        if (held->value.bytes() > 0) {
            require(source, "source");
            require(destination, "destination");
        }
        held->value.run(source, destination, threads, how);
    });
}

int hocket_copy_bytes(const hocket_copy* copy, int64_t* bytes) {
    return guard(__func__, [&] { required(bytes, "bytes") = behind(copy)->value.bytes(); });
}

int hocket_copy_source_contiguous(const hocket_copy* copy, bool* contiguous) {
    return guard(__func__, [&] {
        required(contiguous, "contiguous") = behind(copy)->value.source_contiguous();
    });
}

int hocket_copy_destination_contiguous(const hocket_copy* copy, bool* contiguous) {
    return guard(__func__, [&] {
        required(contiguous, "contiguous") = behind(copy)->value.destination_contiguous();
    });
}

int hocket_copy_free(hocket_copy** copy) {
    return free_handle(__func__, copy);
}

int hocket_cycles(int64_t dimensions, const int64_t* shape, const int64_t* axes, int64_t capacity,
                  hocket_cycle* values, int64_t* count) {
    return guard(__func__, [&] {
        std::vector<hocket_cycle> out;
        for (const auto& [start, length] : hocket::kernel::cycles(
                 by_dimension(dimensions, shape, "shape"), by_dimension(dimensions, axes, "axes")))
            out.push_back({start, length});
        write_list(out, capacity, values, count);
    });
}

int hocket_cycle_path(int64_t dimensions, const int64_t* shape, const int64_t* axes, int64_t start,
                      int64_t capacity, int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(hocket::kernel::cycle_path(by_dimension(dimensions, shape, "shape"),
                                              by_dimension(dimensions, axes, "axes"), start),
                   capacity, values, count);
    });
}

int hocket_permute(const void* source, int64_t dimensions, const int64_t* shape,
                   const int64_t* strides, int64_t itemsize, const int64_t* axes, void* destination,
                   const int64_t* destination_strides, const hocket_permute_options* options) {
    return guard(__func__, [&] {
        const auto extents = by_dimension(dimensions, shape, "shape");
        const auto order = by_dimension(dimensions, axes, "axes");
        Shape permuted(extents.begin(), extents.end());
        // The kernel detects wrong axes, and names them.
        for (std::size_t d = 0; d < order.size(); ++d)
            if (order[d] >= 0 && order[d] < dimensions)
                permuted[d] = extents[static_cast<std::size_t>(order[d])];
        if (elements_of(extents) > 0) {
            require(source, "source");
            require(destination, "destination");
        }
        const auto& given = options != nullptr ? *options : no_options;
        hocket::kernel::PermuteOptions how;
        how.threads = given.threads;
        if (given.schedule != nullptr) how.schedule = given.schedule;
        how.stores = stores_of(given.stores);
        hocket::kernel::permute(source, extents, strides_of(extents, strides, itemsize), itemsize,
                                order, destination,
                                strides_of(permuted, destination_strides, itemsize), how);
    });
}

int hocket_permute_inplace(void* array, int64_t dimensions, const int64_t* shape, int64_t itemsize,
                           const int64_t* axes, const hocket_permute_options* options) {
    return guard(__func__, [&] {
        const auto extents = by_dimension(dimensions, shape, "shape");
        if (elements_of(extents) > 0) require(array, "array");
        hocket::kernel::permute_inplace(array, extents, itemsize,
                                        by_dimension(dimensions, axes, "axes"),
                                        inplace_options(options));
    });
}

int hocket_permute_explain(int64_t dimensions, const int64_t* shape, int64_t itemsize,
                           const int64_t* axes, const hocket_permute_options* options,
                           const char** text) {
    return guard(__func__, [&] {
        static thread_local std::string last;
        const char*& place = required(text, "text");
        last = hocket::kernel::explain_permute(by_dimension(dimensions, shape, "shape"),
                                               by_dimension(dimensions, axes, "axes"), itemsize,
                                               inplace_options(options));
        place = last.c_str();
    });
}
