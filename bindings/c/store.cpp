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

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : ",") + names[i];
    return out;
}

std::string text_or(const char* text, const char* usual) {
    return text == nullptr ? usual : text;
}

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

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t first = 0; first <= text.size();) {
        const std::size_t comma = std::min(text.find(',', first), text.size());
        out.push_back(text.substr(first, comma - first));
        first = comma + 1;
    }
    return out;
}

struct Named {
    std::string name;
    Array array;
    StoreOptions options;
};

hocket::NamedArrays named_arrays(const char* names, const std::vector<Array>& arrays) {
    const std::string all = text_of(names, "names");
    const std::vector<std::string> each = split(all);
    if (each.size() != arrays.size())
        throw ArgumentError("'names' is '" + all + "', and there are " +
                            std::to_string(arrays.size()) + " arrays; give a name for each");
    hocket::NamedArrays out;
    for (std::size_t i = 0; i < each.size(); ++i) out.emplace_back(each[i], arrays[i]);
    return out;
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

int hocket_store_names(const hocket_store* store, const char** names) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(names, "names") = held->keep(joined(held->value.names()));
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

int hocket_store_dimension_names(const hocket_store* store, const char* name, const char** names) {
    return guard(__func__, [&] {
        const auto held = behind(store);
        required(names, "names") =
            held->keep(joined(held->value.array(text_of(name, "name")).dimension_names));
    });
}

int hocket_store_create(hocket_store* store, const char* name, int64_t dimensions,
                        const int64_t* shape, const char* dtype, int64_t itemsize,
                        int64_t chunk_dimensions, const int64_t* chunks, int64_t shard_dimensions,
                        const int64_t* shards, const char* codec, const char* fill,
                        const char* attributes, const char* dimension_names, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto shape_of = [](std::span<const std::int64_t> values) {
            return Shape(values.begin(), values.end());
        };
        struct Arguments {
            std::string name;
            Shape shape;
            hocket::DType dtype;
            hocket::CreateOptions options;
            hocket::Deadline deadline;
        };
        const auto given = arguments_on(function, held->value, [&] {
            Arguments all{text_of(name, "name"),
                          shape_of(by_dimension(dimensions, shape, "shape")),
                          dtype_of_name(dtype, itemsize),
                          {},
                          deadline_of(timeout)};
            all.options.chunks = shape_of(by_dimension(chunk_dimensions, chunks, "chunks"));
            all.options.shards = shape_of(by_dimension(shard_dimensions, shards, "shards"));
            all.options.codec = text_or(codec, "");
            all.options.fill = text_or(fill, "0");
            all.options.attributes = text_or(attributes, "{}");
            if (dimension_names != nullptr && *dimension_names != '\0')
                all.options.dimension_names = split(dimension_names);
            return all;
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
                       int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                       const int64_t* upper, int64_t writers, int64_t max_buffer, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = arguments_on(function, held->value, [&] {
            return Named{
                text_of(name, "name"), behind(array)->value,
                ending(store_options_of({lower_dimensions, lower}, {upper_dimensions, upper}, {},
                                        writers, max_buffer),
                       timeout)};
        });
        held->value.write(given.name, given.array, given.options);
    });
}

int hocket_store_read(hocket_store* store, const char* name, hocket_array* array,
                      int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                      const int64_t* upper, int64_t order_dimensions, const int64_t* order,
                      int64_t max_buffer, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = arguments_on(function, held->value, [&] {
            return Named{
                text_of(name, "name"), behind(array)->value,
                ending(store_options_of({lower_dimensions, lower}, {upper_dimensions, upper},
                                        {order_dimensions, order}, 0, max_buffer),
                       timeout)};
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
            return Named{text_of(name, "name"), behind(array)->value,
                         ending(store_options_of({}, {}, {}, 0, max_buffer), timeout)};
        });
        held->value.append(given.name, given.array, given.options);
    });
}

int hocket_save(const char* path, const char* names, int64_t count,
                const hocket_array* const* arrays, const char* attributes, const char* codec,
                int64_t keep, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        struct Arguments {
            std::string path;
            hocket::NamedArrays arrays;
            hocket::SaveOptions options;
        };
        const auto given = arguments_with(function, count, arrays, [&] {
            Arguments all{
                text_of(path, "path"), named_arrays(names, arrays_of(count, arrays, "arrays")), {}};
            all.options.attributes = text_or(attributes, "{}");
            all.options.codec = text_or(codec, "");
            all.options.keep = keep;
            all.options.deadline = deadline_of(timeout);
            return all;
        });
        hocket::save(given.path, given.arrays, given.options);
    });
}

int hocket_load(const char* path, const char* names, int64_t count, hocket_array* const* arrays,
                double timeout) {
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
                        int64_t* bytes_written) {
    return guard(__func__, [&] {
        const hocket::StoreCounts counts = hocket::store_counts();
        required(opened, "opened") = counts.opened;
        required(reads, "reads") = counts.reads;
        required(writes, "writes") = counts.writes;
        required(bytes_read, "bytes_read") = counts.bytes_read;
        required(bytes_written, "bytes_written") = counts.bytes_written;
    });
}
