// SPDX-License-Identifier: BSD-3-Clause
// Types of elements as h5py maps NumPy's, and attributes as JSON.
#ifdef HOCKET_JSON
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "hocket/error.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/hdf5_functions.hpp"
#include "zarr/json.hpp"

namespace hocket::zarr::hdf5 {
namespace {

using json::Value;
using Kind = DataType::Kind;

constexpr std::array class_names{
    "integers", "floats",    "times",      "texts", "bits",
    "bytes",    "compounds", "references", "enums", "lists of varying length",
    "arrays"};
constexpr const char* labels = "DIMENSION_LABELS";             // HDF5's Dimension Scales, 1.0
constexpr std::int64_t most_elements = std::int64_t{1} << 16;  // of an attribute
constexpr Size most_bytes = 65000;  // 64 KiB less the descriptions of its type and shape

int keep_name(Id /*object*/, const char* name, const void* /*info*/, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

Held real_type(std::int64_t size, bool big_endian) {
    Held out(H5Tcopy(variable(size == 8 ? "H5T_IEEE_F64LE_g" : "H5T_IEEE_F32LE_g")));
    if (size == 2) {  // IEEE 754 binary16: sign, exponent, fraction
        H5Tset_fields(out, 15, 10, 5, 0, 10);
        H5Tset_size(out, 2);
        H5Tset_ebias(out, 15);
    }
    H5Tset_order(out, big_endian ? H5T_ORDER_BE : H5T_ORDER_LE);
    return out;
}

Held text_type() {
    Held out(H5Tcopy(variable("H5T_C_S1_g")));
    H5Tset_size(out, H5T_VARIABLE);
    H5Tset_cset(out, H5T_CSET_UTF8);
    return out;
}

bool holds_values(Id type) {
    bool big_endian = false;
    try {
        static_cast<void>(type_of(type, big_endian));
    } catch (const Error&) {
        return false;
    }
    return true;
}

std::vector<std::string> texts_of(Id attribute, Id type, std::int64_t count) {
    std::vector<std::string> out;
    if (H5Tis_variable_str(type) > 0) {
        std::vector<char*> texts(static_cast<std::size_t>(count));
        H5Aread(attribute, type, texts.data());
        for (char* each : texts) {
            out.emplace_back(each == nullptr ? "" : each);
            if (each != nullptr) H5free_memory(each);
        }
        return out;
    }
    const std::size_t size = H5Tget_size(type);
    std::string all(size * static_cast<std::size_t>(count), '\0');
    H5Aread(attribute, type, all.data());
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
        out.emplace_back(all.substr(k * size, size).c_str());  // up to the first NUL
    return out;
}

// None: JSON has no counterpart.
Value value_of(Id attribute) {
    const Held type(H5Aget_type(attribute)), space(H5Aget_space(attribute));
    if (H5Sget_simple_extent_type(space) == H5S_NULL || H5Sget_simple_extent_ndims(space) > 1)
        return {};
    const std::int64_t count = H5Sget_simple_extent_npoints(space);
    const bool is_text = H5Tget_class(type) == H5T_STRING;
    if (count > most_elements || (!is_text && !holds_values(type))) return {};
    Value all = Value::array();
    if (is_text) {
        for (const std::string& each : texts_of(attribute, type, count)) all.push_back(each);
    } else {
        bool big_endian = false;
        const DataType kind = type_of(type, big_endian);
        const auto size = static_cast<std::size_t>(kind.size);
        Bytes data(size * static_cast<std::size_t>(count));
        H5Aread(attribute, memory_type(kind, type), data.data());
        for (std::size_t at = 0; at < data.size(); at += size) {
            const Bytes one(data.begin() + static_cast<std::ptrdiff_t>(at),
                            data.begin() + static_cast<std::ptrdiff_t>(at + size));
            all.push_back(json::parse(json_of_fill(one, kind), "an attribute"));
        }
    }
    return H5Sget_simple_extent_type(space) == H5S_SCALAR ? all[0] : all;
}

// `object` is `none_yet`: a check alone.
void put(Id object, const std::string& name, Id type, const Value& value, const void* data) {
    const Size each = H5Tis_variable_str(type) > 0 ? 16 : H5Tget_size(type);  // in the file
    const Size bytes = name.size() + each * std::max<Size>(value.is_array() ? value.size() : 1, 1);
    if (bytes > most_bytes)
        throw Error("the attribute '" + name.substr(0, 80) + "' has " + std::to_string(bytes) +
                    " bytes, and HDF5 files have at most " + std::to_string(most_bytes) +
                    " in an attribute; store it as an array");
    if (object == none_yet) return;
    const Size count = value.size();
    const Held space =
        value.is_array() ? H5Screate_simple(1, &count, nullptr) : H5Screate(H5S_SCALAR);
    const Held made(H5Acreate2(object, name.c_str(), type, space, none, none));
    if (count > 0) H5Awrite(made, type, data);
}

template <class Element>
void put_numbers(Id object, const std::string& name, const Value& value, const DataType& kind) {
    std::vector<Element> data;
    for (const Value& each : value.is_array() ? value : Value::array({value}))
        data.push_back(each.template get<Element>());
    put(object, name, file_type(kind, false), value, data.data());
}

void put_texts(Id object, const std::string& name, const Value& value) {
    std::vector<std::string> texts;
    std::vector<const char*> data;
    for (const Value& each : value.is_array() ? value : Value::array({value}))
        texts.push_back(each.get<std::string>());
    for (const std::string& each : texts) {
        if (each.find('\0') != std::string::npos)
            throw Error("the attribute '" + name + "' has a text with a NUL, which HDF5 lacks");
        data.push_back(each.c_str());
    }
    put(object, name, text_type(), value, data.data());
}

void put_attribute(Id object, const std::string& name, const Value& value) {
    const auto all = [&](bool (*is)(const Value&)) {
        if (!value.is_array()) return is(value);
        return std::all_of(value.begin(), value.end(), is);
    };
    if (!all([](const Value& each) { return !json::is_large_integer(each); }))
        throw Error("the attribute '" + name +
                    "' has an integer of more than 64 bits, which HDF5 lacks; give it as a text");
    if (!value.empty() && all([](const Value& each) { return each.is_string(); }))
        return put_texts(object, name, value);
    if (!value.empty() && all([](const Value& each) { return each.is_boolean(); }))
        return put_numbers<std::int8_t>(object, name, value, {Kind::boolean, 1});
    if (!value.empty() && all([](const Value& each) { return each.is_number_integer(); })) {
        // Negative: those that are not unsigned.
        if (all([](const Value& each) {
                return !each.is_number_unsigned() || each.get<std::uint64_t>() <= INT64_MAX;
            }))
            return put_numbers<std::int64_t>(object, name, value, {Kind::integer, 8});
        if (all([](const Value& each) { return each.is_number_unsigned(); }))
            return put_numbers<std::uint64_t>(object, name, value, {Kind::natural, 8});
        throw Error("the attribute '" + name +
                    "' has negative integers and some of 2**63 or more, which no type of HDF5 "
                    "holds together; give them as floats or texts");
    }
    if (!value.is_null() && all([](const Value& each) { return each.is_number(); }))
        return put_numbers<double>(object, name, value, {Kind::real, 8});
    throw Error("the attribute '" + name + "' is " + json::text(value).substr(0, 80) +
                "; attributes of an HDF5 file are numbers, texts, and lists of one kind of these");
}

}  // namespace

Held file_type(const DataType& type, bool big_endian) {
    switch (type.kind) {
        case Kind::boolean: {
            Held out(H5Tenum_create(variable("H5T_STD_I8LE_g")));
            for (const std::int8_t value : {std::int8_t{0}, std::int8_t{1}})
                H5Tenum_insert(out, value == 0 ? "FALSE" : "TRUE", &value);
            return out;
        }
        case Kind::integer:
        case Kind::natural: {
            const std::string name = std::string("H5T_STD_") +
                                     (type.kind == Kind::integer ? "I" : "U") +
                                     std::to_string(8 * type.size) + (big_endian ? "BE_g" : "LE_g");
            return H5Tcopy(variable(name.c_str()));
        }
        case Kind::real:
            return real_type(type.size, big_endian);
        case Kind::complex: {
            const auto half = static_cast<std::size_t>(type.size / 2);
            const Held part = real_type(type.size / 2, big_endian);
            Held out(H5Tcreate(H5T_COMPOUND, 2 * half));
            H5Tinsert(out, "r", 0, part);
            H5Tinsert(out, "i", half, part);
            return out;
        }
        case Kind::raw:
            break;
    }
    Held out(H5Tcreate(H5T_OPAQUE, static_cast<std::size_t>(type.size)));
    H5Tset_tag(out, "");
    return out;
}

Held memory_type(const DataType& type, Id in_file) {
    return type.kind == Kind::raw ? Held(H5Tcopy(in_file)) : file_type(type, false);
}

DataType type_of(Id type, bool& big_endian) {
    const int kind = H5Tget_class(type);
    const auto size = static_cast<std::int64_t>(H5Tget_size(type));
    if (kind == H5T_OPAQUE) return {Kind::raw, size};
    DataType out{Kind::integer, size};
    const bool whole = size == 1 || size == 2 || size == 4 || size == 8;
    bool possible = false;
    if (kind == H5T_INTEGER) {
        out.kind = H5Tget_sign(type) == 0 ? Kind::natural : Kind::integer;
        possible = whole;
    } else if (kind == H5T_FLOAT) {
        out.kind = Kind::real;
        possible = whole && size > 1;
    } else if (kind == H5T_COMPOUND) {
        out.kind = Kind::complex;
        possible = size == 8 || size == 16;
    } else if (kind == H5T_ENUM) {
        out.kind = Kind::boolean;
        possible = size == 1;
    }
    for (const bool reversed : {false, true}) {
        if (!possible || H5Tequal(type, file_type(out, reversed)) <= 0) continue;
        big_endian = reversed && out.unit() > 1;
        return out;
    }
    const auto at = static_cast<std::size_t>(kind);
    throw Error("its elements are " +
                (at < class_names.size() ? std::string(class_names[at]) : "of another kind") +
                " of " + std::to_string(size) +
                " bytes; hocket stores bool, int8 to int64, uint8 to uint64, float16 to float64, "
                "complex64, complex128 and raw bytes");
}

std::string attributes_of(Id object) {
    std::vector<std::string> names;
    H5Aiterate2(object, 0, 0, nullptr, keep_name, &names);
    Value out = Value::object();
    for (const std::string& name : names) {
        if (name == labels || !is_text(name)) continue;
        try {
            const Held attribute(H5Aopen(object, name.c_str(), none));
            if (const Value value = value_of(attribute); !value.is_null()) out[name] = value;
        } catch (const Error&) {
            continue;  // one that this library cannot read
        }
    }
    return json::text(out);
}

void put_attributes(Id object, const std::string& text) {
    check_attributes(text);
    const Value old = json::parse(attributes_of(object), "the attributes");
    const Value given = json::parse(text, "the attributes");
    for (const auto& [name, value] : old.items()) H5Adelete(object, name.c_str());
    for (const auto& [name, value] : given.items()) {
        // Of a kind that JSON has no counterpart of.
        if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
        put_attribute(object, name, value);
    }
}

void check_attributes(const std::string& text) {
    const auto lock = locked();
    const Value given = json::parse(text, "the attributes");
    for (const auto& [name, value] : given.items()) {
        if (name.empty() || name.find('\0') != name.npos || name == labels)
            throw Error("an HDF5 file has no attribute '" + name.substr(0, 80) +
                        "': give a name that is not empty, has no NUL, and is not " + labels +
                        ", where dimension_names are stored");
        put_attribute(none_yet, name, value);
    }
}

bool is_text(const std::string& text) {
    return json::text(text) == Value(text).dump(-1, ' ', false, Value::error_handler_t::ignore);
}

std::vector<std::string> labels_of(Id dataset, std::size_t dimensions) {
    std::vector<std::string> out(dimensions);
    if (H5Aexists(dataset, labels) <= 0) return out;
    const Held attribute(H5Aopen(dataset, labels, none));
    const Held type(H5Aget_type(attribute));
    const std::int64_t count = H5Sget_simple_extent_npoints(Held(H5Aget_space(attribute)));
    if (H5Tget_class(type) == H5T_STRING && count == static_cast<std::int64_t>(dimensions))
        out = texts_of(attribute, type, count);
    return out;
}

void put_labels(Id dataset, const std::vector<std::string>& names) {
    Value all = Value::array();
    bool any = false;
    for (const std::string& name : names) {
        all.push_back(name);
        any = any || !name.empty();
    }
    if (any) put_texts(dataset, labels, all);
}

}  // namespace hocket::zarr::hdf5
#endif
