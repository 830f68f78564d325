// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/observer.hpp"

#include "handles.hpp"
#include "port_values.hpp"

using namespace hocket::c;
using hocket::ObservedArray;
using hocket::Observer;
using hocket::Value;

namespace {

template <class Items, class NameOf>
std::string with_commas(const Items& items, NameOf name_of) {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ",") + name_of(item);
    return out;
}

ObservedArray array_of(const Observer& observer, const std::string& name) {
    for (const ObservedArray& array : observer.arrays())
        if (array.name == name) return array;
    throw hocket::Error("the program has published no array '" + name + "'");
}

Value value_of(const Observer& observer, const std::string& name) {
    for (const auto& [known, value] : observer.parameters())
        if (known == name) return value;
    throw hocket::Error("the program has no parameter '" + name + "'");
}

std::vector<hocket::Slice> slices_within(const ObservedArray& array,
                                         std::span<const std::int64_t> lower,
                                         std::span<const std::int64_t> upper,
                                         std::span<const std::int64_t> every) {
    std::vector<hocket::Slice> slices;
    const std::size_t dimensions = array.shape.size();
    for (const auto& list : {lower, upper, every})
        if (!list.empty() && list.size() != dimensions)
            throw ArgumentError("'" + array.name + "' has " + std::to_string(dimensions) +
                                " dimensions, and a list has " + std::to_string(list.size()));
    for (std::size_t d = 0; d < dimensions; ++d) {
        const std::int64_t first = lower.empty() ? 0 : lower[d];
        const std::int64_t last = upper.empty() ? array.shape[d] : upper[d];
        const std::int64_t step = every.empty() ? 1 : every[d];
        if (step < 1 || last < first)
            throw ArgumentError("'every' is 1 or more, and 'upper' no less than 'lower'");
        slices.push_back({first, (last - first + step - 1) / step, step, true});
    }
    return slices;
}

using Indices = std::span<const std::int64_t>;

void read_section(const hocket_observer* observer, const char* name, Indices lower, Indices upper,
                  Indices every, std::int64_t bytes, void* data, bool column_major) {
    const auto held = behind(observer);
    const ObservedArray array = array_of(held->value, text_of(name, "name"));
    const auto slices = slices_within(array, lower, upper, every);
    std::int64_t needed = array.itemsize;
    hocket::Shape strides;
    for (const hocket::Slice& slice : slices) {
        strides.push_back(needed);
        if (__builtin_mul_overflow(needed, slice.count, &needed))
            throw ArgumentError("the section has more bytes than 64 bits count");
    }
    if (needed > bytes)
        throw ArgumentError("the section has " + std::to_string(needed) +
                            " bytes, and there is room for " + std::to_string(bytes));
    if (needed > 0) require(data, "data");
    if (column_major)
        held->value.read(array.name, slices, data, strides);
    else
        held->value.read(array.name, slices, data);
}

}  // namespace

int hocket_observe(const char* port, const char* key, bool secure, double timeout,
                   hocket_observer** observer) {
    return guard(__func__, [&] {
        require(observer, "observer");
        hocket::ObserveOptions options;
        options.key = key == nullptr ? "" : key;
        options.secure = secure;
        if (timeout >= 0) options.timeout = timeout;
        give(observer, Observer::open(text_of(port, "port"), options));
    });
}

int hocket_observer_free(hocket_observer** observer) {
    return guard(__func__, [&] {
        behind(required(observer, "observer"))->value.close();
        leave(*observer, "observer");
        *observer = nullptr;
    });
}

int hocket_observer_arrays(const hocket_observer* observer, const char** names) {
    return guard(__func__, [&] {
        const auto held = behind(observer);
        required(names, "names") = held->keep(with_commas(
            held->value.arrays(), [](const ObservedArray& array) { return array.name; }));
    });
}

int hocket_observer_parameters(const hocket_observer* observer, const char** names) {
    return guard(__func__, [&] {
        const auto held = behind(observer);
        required(names, "names") = held->keep(
            with_commas(held->value.parameters(), [](const auto& one) { return one.first; }));
    });
}

int hocket_observer_shape(const hocket_observer* observer, const char* name, int64_t capacity,
                          int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(array_of(behind(observer)->value, text_of(name, "name")).shape, capacity, values,
                   count);
    });
}

int hocket_observer_dtype(const hocket_observer* observer, const char* name, const char** dtype) {
    return guard(__func__, [&] {
        const auto held = behind(observer);
        required(dtype, "dtype") = held->keep(array_of(held->value, text_of(name, "name")).dtype);
    });
}

int hocket_observer_read(hocket_observer* observer, const char* name, int64_t lower_dimensions,
                         const int64_t* lower, int64_t upper_dimensions, const int64_t* upper,
                         int64_t every_dimensions, const int64_t* every, int64_t bytes,
                         void* data) {
    return guard(__func__, [&] {
        read_section(observer, name, by_dimension(lower_dimensions, lower, "lower"),
                     by_dimension(upper_dimensions, upper, "upper"),
                     by_dimension(every_dimensions, every, "every"), bytes, data, false);
    });
}

int hocket_observer_read_fortran(hocket_observer* observer, const char* name,
                                 int64_t lower_dimensions, const int64_t* lower,
                                 int64_t upper_dimensions, const int64_t* upper,
                                 int64_t every_dimensions, const int64_t* every, int64_t bytes,
                                 void* data) {
    return guard(__func__, [&] {
        read_section(observer, name, by_dimension(lower_dimensions, lower, "lower"),
                     by_dimension(upper_dimensions, upper, "upper"),
                     by_dimension(every_dimensions, every, "every"), bytes, data, true);
    });
}

int hocket_observer_value_real(const hocket_observer* observer, const char* name, double* value) {
    return guard(__func__, [&] {
        const std::string of = text_of(name, "name");
        required(value, "value") = real_of(value_of(behind(observer)->value, of), of);
    });
}

int hocket_observer_value_int(const hocket_observer* observer, const char* name, int64_t* value) {
    return guard(__func__, [&] {
        const std::string of = text_of(name, "name");
        required(value, "value") = int_of(value_of(behind(observer)->value, of), of);
    });
}

int hocket_observer_value_text(const hocket_observer* observer, const char* name,
                               const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(observer);
        const std::string of = text_of(name, "name");
        required(text, "text") = held->keep(string_of(value_of(held->value, of), of));
    });
}

int hocket_observer_set_real(hocket_observer* observer, const char* name, double value) {
    return guard(__func__, [&] { behind(observer)->value.set(text_of(name, "name"), value); });
}

int hocket_observer_set_int(hocket_observer* observer, const char* name, int64_t value) {
    return guard(__func__, [&] { behind(observer)->value.set(text_of(name, "name"), value); });
}

int hocket_observer_set_text(hocket_observer* observer, const char* name, const char* text) {
    return guard(__func__, [&] {
        behind(observer)->value.set(text_of(name, "name"), text_of(text, "text"));
    });
}

int hocket_observer_step(const hocket_observer* observer, int64_t* polls) {
    return guard(__func__, [&] { required(polls, "polls") = behind(observer)->value.step(); });
}

int hocket_observer_swapped(const hocket_observer* observer, bool* swapped) {
    return guard(__func__,
                 [&] { required(swapped, "swapped") = behind(observer)->value.swapped(); });
}

int hocket_ports(const char** names) {
    return guard(__func__, [&] {
        thread_local std::string kept;
        kept = with_commas(hocket::ports(), [](const auto& port) { return port.name; });
        required(names, "names") = kept.c_str();
    });
}

int hocket_give_key(const char* key, const char* right, const char* path) {
    return guard(__func__, [&] {
        hocket::give_key(text_of(key, "key"), text_of(right, "right"), text_of(path, "path"));
    });
}
