// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/store.hpp"

#include "dtype.hpp"
#include "handles.hpp"
#include "hocket/binding.hpp"
#include "hocket/transfer.hpp"
#include "store_options.hpp"
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Shape;
using hocket::Store;
using hocket::StoreOptions;

namespace {

// Reads this process's arguments of a collective call on a store.
template <class Arguments>
auto arguments_on(const char* function, const Store& store, Arguments arguments) {
    return arguments_of(function, arguments, [&](const std::string& message) {
        hocket::Binding::refuse(store.comm(), argument_error, message);
    });
}

StoreOptions ending(StoreOptions options, double timeout) {
    options.deadline = deadline_of(timeout);
    return options;
}

struct Named {
    std::string name;
    Array array;
    StoreOptions options;
};

hocket::NamedArrays named_arrays(const char* const* names, const std::vector<Array>& arrays) {
    const auto each = texts_of(static_cast<std::int64_t>(arrays.size()), names, "names");
    hocket::NamedArrays out;
    for (std::size_t i = 0; i < each.size(); ++i) out.emplace_back(each[i], arrays[i]);
    return out;
}

hocket::CreateOptions options_of(const hocket_create_options* given) {
    hocket::CreateOptions options;
    if (given == nullptr) return options;
    options.chunks = shape_of(given->chunk_dimensions, given->chunks, "chunks");
    options.shards = shape_of(given->shard_dimensions, given->shards, "shards");
    options.codec = text_or(given->codec, "");
    options.fill = text_or(given->fill, "0");
    options.attributes = text_or(given->attributes, "{}");
    options.dimension_names =
        texts_of(given->named_dimensions, given->dimension_names, "dimension_names");
    return options;
}

hocket::SaveOptions options_of(const hocket_save_options* given) {
    hocket::SaveOptions options;
    if (given == nullptr) return options;
    options.attributes = text_or(given->attributes, "{}");
    options.codec = text_or(given->codec, "");
    options.keep = given->keep;
    if (given->max_buffer != 0) options.max_buffer = given->max_buffer;
    return options;
}

// The entry of a list at an index from 0.
std::string entry(const std::vector<std::string>& list, std::int64_t index, const char* name) {
    if (index < 0 || index >= static_cast<std::int64_t>(list.size()))
        throw ArgumentError(std::string("'") + name + "' is " + std::to_string(index) +
                            ", and there are " + std::to_string(list.size()) +
                            "; give one below that");
    return list[static_cast<std::size_t>(index)];
}

// The first array gives the communicator of the call.
template <class Handle, class Arguments>
auto arguments_with(const char* function, std::int64_t count, Handle* const* arrays,
                    Arguments arguments) {
    const Array first = behind(list(count, arrays, "arrays").empty() ? nullptr : arrays[0])->value;
    return arguments_of(function, arguments, [&](const std::string& message) {
        hocket::Binding::refuse(first.comm(), argument_error, message);
    });
}

}  // namespace

int hocket_store_free(hocket_store** store) {
    return guard(__func__, [&] {
        behind(required(store, "store"))->value.leave();
        leave(*store, "store");
        *store = nullptr;
    });
}

int hocket_store_close(hocket_store* store, double timeout) {
    return guard(__func__, [&] { behind(store)->value.close(deadline_of(timeout)); });
}

int hocket_store_path(const hocket_store* store, const char** path) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(path, "path") = held->keep(held->value.path());
    });
}

int hocket_store_mode(const hocket_store* store, const char** mode) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(mode, "mode") = held->keep(held->value.mode());
    });
}

int hocket_store_attributes(const hocket_store* store, const char** attributes) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(attributes, "attributes") = held->keep(held->value.attributes());
    });
}

int hocket_store_unfinished(const hocket_store* store, const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(text, "text") = held->keep(held->value.unfinished());
    });
}

int hocket_store_size(const hocket_store* store, int64_t* size) {
    return guard(__func__, [&] {
        required(size, "size") = static_cast<std::int64_t>(behind(store)->value.names().size());
    });
}

int hocket_store_name_of(const hocket_store* store, int64_t index, const char** name) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(name, "name") = held->keep(entry(held->value.names(), index, "index"));
    });
}

int hocket_store_shape(const hocket_store* store, const char* name, int64_t capacity,
                       int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(behind(store)->value.array(text_of(name, "name")).shape, capacity, values,
                   count);
    });
}

int hocket_store_chunks(const hocket_store* store, const char* name, int64_t capacity,
                        int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(behind(store)->value.array(text_of(name, "name")).chunks, capacity, values,
                   count);
    });
}

int hocket_store_shards(const hocket_store* store, const char* name, int64_t capacity,
                        int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(behind(store)->value.array(text_of(name, "name")).shards, capacity, values,
                   count);
    });
}

int hocket_store_dtype(const hocket_store* store, const char* name, const char** dtype) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(dtype, "dtype") = held->keep(held->value.array(text_of(name, "name")).dtype);
    });
}

int hocket_store_array_attributes(const hocket_store* store, const char* name,
                                  const char** attributes) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(attributes, "attributes") =
            held->keep(held->value.array(text_of(name, "name")).attributes);
    });
}

int hocket_store_dimension_name(const hocket_store* store, const char* name, int64_t dimension,
                                const char** dimension_name) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        const auto& names = held->value.array(text_of(name, "name")).dimension_names;
        required(dimension_name, "dimension_name") =
            held->keep(entry(names, dimension, "dimension"));
    });
}

int hocket_store_create(hocket_store* store, const char* name, int64_t dimensions,
                        const int64_t* shape, const char* dtype, int64_t itemsize,
                        const hocket_create_options* options, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        struct Arguments {
            std::string name;
            Shape shape;
            hocket::DType dtype;
            hocket::CreateOptions options;
            hocket::Deadline deadline;
        };
        const auto given = arguments_on(function, held->value, [&] {
            return Arguments{text_of(name, "name"), shape_of(dimensions, shape, "shape"),
                             dtype_of_name(dtype, itemsize), options_of(options),
                             deadline_of(timeout)};
        });
        held->value.create(given.name, given.shape, given.dtype, given.options, given.deadline);
    });
}

int hocket_store_set_attributes(hocket_store* store, const char* json, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto text =
            arguments_on(function, held->value, [&] { return text_of(json, "json"); });
        held->value.set_attributes(text, deadline_of(timeout));
    });
}

int hocket_store_write(hocket_store* store, const char* name, const hocket_array* array,
                       const hocket_write_options* options, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = arguments_on(function, held->value, [&] {
            return Named{text_of(name, "name"), behind(array)->value,
                         ending(store_options_of(options), timeout)};
        });
        held->value.write(given.name, given.array, given.options);
    });
}

int hocket_store_read(hocket_store* store, const char* name, hocket_array* array,
                      const hocket_read_options* options, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = arguments_on(function, held->value, [&] {
            return Named{text_of(name, "name"), behind(array)->value,
                         ending(store_options_of(options), timeout)};
        });
        held->value.read(given.name, given.array, given.options);
    });
}

int hocket_store_append(hocket_store* store, const char* name, const hocket_array* array,
                        int64_t max_buffer, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = arguments_on(function, held->value, [&] {
            hocket_write_options options{};
            options.max_buffer = max_buffer;
            return Named{text_of(name, "name"), behind(array)->value,
                         ending(store_options_of(&options), timeout)};
        });
        held->value.append(given.name, given.array, given.options);
    });
}

int hocket_save(const char* path, const char* const* names, int64_t count,
                const hocket_array* const* arrays, const hocket_save_options* options,
                double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        struct Arguments {
            std::string path;
            hocket::NamedArrays arrays;
            hocket::SaveOptions options;
        };
        const auto given = arguments_with(function, count, arrays, [&] {
            Arguments all{text_of(path, "path"),
                          named_arrays(names, arrays_of(count, arrays, "arrays")),
                          options_of(options)};
            all.options.deadline = deadline_of(timeout);
            return all;
        });
        hocket::save(given.path, given.arrays, given.options);
    });
}

int hocket_load(const char* path, const char* const* names, int64_t count,
                hocket_array* const* arrays, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        struct Arguments {
            std::string path;
            hocket::NamedArrays arrays;
            hocket::Deadline deadline;
        };
        const auto given = arguments_with(function, count, arrays, [&] {
            return Arguments{text_of(path, "path"),
                             named_arrays(names, arrays_of(count, arrays, "arrays")),
                             deadline_of(timeout)};
        });
        hocket::load(given.path, given.arrays, given.deadline);
    });
}

int hocket_store_counts(int64_t* opened, int64_t* reads, int64_t* writes, int64_t* bytes_read,
                        int64_t* bytes_written, int64_t* seeks) {
    return guard(__func__, [&] {
        const hocket::StoreCounts counts = hocket::store_counts();
        required(opened, "opened") = counts.opened;
        required(reads, "reads") = counts.reads;
        required(writes, "writes") = counts.writes;
        required(bytes_read, "bytes_read") = counts.bytes_read;
        required(bytes_written, "bytes_written") = counts.bytes_written;
        required(seeks, "seeks") = counts.seeks;
    });
}
