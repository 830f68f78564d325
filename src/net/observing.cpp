// SPDX-License-Identifier: BSD-3-Clause
#include "net/observing.hpp"

#include "net/hello.hpp"

namespace hocket::net {
namespace {

constexpr std::size_t most_dimensions = 64, most_names = 4096, most_parts = std::size_t{1} << 20;

void write(Writer& writer, const Value& value) {
    writer.u8(static_cast<std::uint8_t>(value.index()));
    if (const auto* flag = std::get_if<bool>(&value)) writer.u8(*flag ? 1 : 0);
    if (const auto* number = std::get_if<std::int64_t>(&value)) writer.i64(*number);
    if (const auto* number = std::get_if<double>(&value)) writer.f64(*number);
    if (const auto* text = std::get_if<std::string>(&value)) writer.text(*text);
}

Value read_value(Reader& reader) {
    switch (const std::uint8_t kind = reader.u8()) {
        case 0:
            return reader.u8() != 0;
        case 1:
            return reader.i64();
        case 2:
            return reader.f64();
        case 3:
            return reader.text(longest_text);
        default:
            throw Error("a message has a value of kind " + std::to_string(kind));
    }
}

}  // namespace

void write(Writer& writer, const Look& look) {
    writer.i64(look.number).text(look.name).u32(static_cast<std::uint32_t>(look.slices.size()));
    for (const Slice& slice : look.slices)
        writer.i64(slice.first).i64(slice.count).i64(slice.step).u8(slice.keep ? 1 : 0);
}

Look read_look(Reader& reader) {
    Look look;
    look.number = reader.i64();
    look.name = reader.text(longest_name);
    look.slices.resize(reader.length(most_dimensions));
    for (Slice& slice : look.slices) {
        slice.first = reader.i64();
        slice.count = reader.i64();
        slice.step = reader.i64();
        slice.keep = reader.u8() != 0;
    }
    return look;
}

void write(Writer& writer, const Set& set) {
    writer.i64(set.number).text(set.name);
    write(writer, set.value);
}

Set read_set(Reader& reader) {
    Set set;
    set.number = reader.i64();
    set.name = reader.text(longest_name);
    set.value = read_value(reader);
    return set;
}

void write(Writer& writer, const Catalog& catalog) {
    writer.i64(catalog.poll).u32(static_cast<std::uint32_t>(catalog.arrays.size()));
    for (const ObservedArray& array : catalog.arrays) {
        writer.text(array.name).text(array.dtype).i64(array.itemsize);
        writer.u32(static_cast<std::uint32_t>(array.shape.size()));
        for (const std::int64_t extent : array.shape) writer.i64(extent);
    }
    writer.u32(static_cast<std::uint32_t>(catalog.parameters.size()));
    for (const auto& [name, value] : catalog.parameters) {
        writer.text(name);
        write(writer, value);
    }
}

Catalog read_catalog(Reader& reader) {
    Catalog catalog;
    catalog.poll = reader.i64();
    for (std::size_t left = reader.length(most_names); left > 0; --left) {
        ObservedArray array;
        array.name = reader.text(longest_name);
        array.dtype = reader.text(longest_text);
        array.itemsize = reader.i64();
        array.shape.resize(reader.length(most_dimensions));
        for (std::int64_t& extent : array.shape) extent = reader.i64();
        catalog.arrays.push_back(std::move(array));
    }
    for (std::size_t left = reader.length(most_names); left > 0; --left) {
        std::string name = reader.text(longest_name);
        catalog.parameters.emplace_back(std::move(name), read_value(reader));
    }
    return catalog;
}

void write(Writer& writer, const Picture& picture) {
    writer.i64(picture.number).i64(picture.poll).text(picture.layout);
    writer.u32(static_cast<std::uint32_t>(picture.parts.size()));
    for (const auto& [process, bytes] : picture.parts) writer.i64(process).i64(bytes);
}

Picture read_picture(Reader& reader) {
    Picture picture;
    picture.number = reader.i64();
    picture.poll = reader.i64();
    picture.layout = reader.text(longest_to_observer);
    for (std::size_t left = reader.length(most_parts); left > 0; --left) {
        const std::int64_t process = reader.i64();
        picture.parts.emplace_back(process, reader.i64());
    }
    return picture;
}

}  // namespace hocket::net
