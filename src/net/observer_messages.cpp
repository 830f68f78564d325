// SPDX-License-Identifier: BSD-3-Clause
#include "net/observer_messages.hpp"

#include <algorithm>

#include "net/hello.hpp"

namespace hocket::net {
namespace {

constexpr std::size_t most_dimensions = 64, most_parts = std::size_t{1} << 20;

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

void write(Writer& writer, const SectionRequest& request) {
    writer.i64(request.number)
        .text(request.name)
        .u32(static_cast<std::uint32_t>(request.slices.size()));
    for (const Slice& slice : request.slices)
        writer.i64(slice.first).i64(slice.count).i64(slice.step).u8(slice.keep ? 1 : 0);
    writer.u8(request.maps ? 1 : 0);
}

SectionRequest read_section_request(Reader& reader) {
    SectionRequest request;
    request.number = reader.i64();
    request.name = reader.text(longest_name);
    request.slices.resize(reader.length(most_dimensions));
    for (Slice& slice : request.slices) {
        slice.first = reader.i64();
        slice.count = reader.i64();
        slice.step = reader.i64();
        slice.keep = reader.u8() != 0;
    }
    request.maps = reader.u8() != 0;
    return request;
}

void write(Writer& writer, const ParameterChange& change) {
    writer.i64(change.number).text(change.name);
    write(writer, change.value);
}

ParameterChange read_parameter_change(Reader& reader) {
    ParameterChange change;
    change.number = reader.i64();
    change.name = reader.text(longest_name);
    change.value = read_value(reader);
    return change;
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
        array.dtype = reader.text(longest_dtype);
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

void write(Writer& writer, const SectionHeader& header) {
    writer.i64(header.number).i64(header.poll).text(header.layout);
    writer.u32(static_cast<std::uint32_t>(header.parts.size()));
    for (const SectionPart& part : header.parts) {
        writer.i64(part.process).i64(part.bytes);
        if (!header.layout.empty()) continue;
        writer.u8(static_cast<std::uint8_t>(part.counts.size()));
        for (const std::int64_t count : part.counts) writer.i64(count);
    }
}

void write(Writer& writer, const LentPart& part) {
    writer.i64(part.number).i64(part.process).i64(part.inode);
}

LentPart read_lent_part(Reader& reader) {
    LentPart part;
    part.number = reader.i64();
    part.process = reader.i64();
    part.inode = reader.i64();
    reader.end();
    return part;
}

SectionHeader read_section_header(Reader& reader) {
    SectionHeader header;
    header.number = reader.i64();
    header.poll = reader.i64();
    header.layout = reader.text(longest_to_observer);
    for (std::size_t left = reader.length(most_parts); left > 0; --left) {
        SectionPart& part = header.parts.emplace_back();
        part.process = reader.i64();
        part.bytes = reader.i64();
        if (!header.layout.empty()) continue;
        part.counts.resize(std::min<std::size_t>(reader.u8(), most_dimensions));
        for (std::int64_t& count : part.counts) count = reader.i64();
    }
    return header;
}

}  // namespace hocket::net
