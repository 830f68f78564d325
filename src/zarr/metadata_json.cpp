// SPDX-License-Identifier: BSD-3-Clause
// Metadata from JSON and back.
#include <algorithm>
#include <cstdint>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"
#include "zarr/metadata.hpp"
#ifdef HOCKET_JSON
#include "zarr/json_reader.hpp"

namespace hocket::zarr {

void check(const Metadata& array, const Reader& from) {
    if (const std::string why = contradiction_of(array); !why.empty()) from.fail(why);
}

std::vector<std::string> names_of(const Value* list, std::size_t dimensions, const Reader& from) {
    std::vector<std::string> out(dimensions);
    if (list == nullptr || list->is_null()) return out;
    if (!list->is_array() || list->size() != dimensions)
        from.fail("its dimension_names do not have one name a dimension");
    for (std::size_t d = 0; d < dimensions; ++d)
        if ((*list)[d].is_string()) out[d] = (*list)[d].get<std::string>();
    return out;
}

namespace {

bool big_endian_of(const Value& configuration, const DataType& type, const Reader& from) {
    const auto found = configuration.find("endian");
    if (found == configuration.end()) {
        if (type.unit() > 1) from.fail("its codec bytes does not say an order of bytes");
        return false;
    }
    if (*found != "little" && *found != "big")
        from.fail("its bytes are in the order " + found->dump());
    return *found == "big";
}

Codec codec_of(const Named& named) {
    Codec codec = Codec::named(named.name);
    if (const auto level = named.configuration.find("level");
        level != named.configuration.end() && level->is_number_integer())
        codec.level =
            static_cast<int>(std::clamp<std::int64_t>(level->get<std::int64_t>(), -1000, 1000));
    if (const auto sum = named.configuration.find("checksum");
        sum != named.configuration.end() && sum->is_boolean())
        codec.checksum = sum->get<bool>();
    return codec;
}

Encoding encoding_of(const Value& codecs, std::size_t dimensions, const DataType& type,
                     const Reader& from) {
    Encoding out;
    for (std::size_t d = 0; d < dimensions; ++d) out.order.push_back(d);
    bool seen_bytes = false;
    if (!codecs.is_array()) from.fail("'codecs' is no list");
    for (const Value& each : codecs) {
        const Named named(each, from);
        if (named.name == "transpose" && !seen_bytes) {
            const Shape order = Reader(named.configuration, from.what()).extents("order", 0);
            std::vector<std::size_t> turned(dimensions, dimensions);
            if (order.size() != dimensions)
                from.fail("the order of its codec transpose does not fit");
            for (std::size_t d = 0; d < dimensions; ++d) {
                const auto from_dimension = static_cast<std::size_t>(order[d]);
                if (from_dimension >= dimensions ||
                    std::find(turned.begin(), turned.end(), out.order[from_dimension]) !=
                        turned.end())
                    from.fail("the order of its codec transpose is no permutation");
                turned[d] = out.order[from_dimension];
            }
            out.order = turned;
        } else if (named.name == "bytes" && !seen_bytes) {
            out.big_endian = big_endian_of(named.configuration, type, from);
            seen_bytes = true;
        } else if (seen_bytes) {
            out.codecs.push_back(codec_of(named));
        } else {
            from.fail("its codec '" + named.name + "' is none that hocket knows before 'bytes'");
        }
    }
    if (!seen_bytes) from.fail("its codecs do not have 'bytes'");
    return out;
}

void read_sharding(const Value& configuration, Metadata& out, const Reader& from) {
    const Reader sharding(configuration, from.what());
    out.sharded = true;
    out.chunk = sharding.extents("chunk_shape", 1);
    out.encoding = encoding_of(sharding.at("codecs"), out.shape.size(), out.type, from);
    if (const Value* where = sharding.find("index_location"); where != nullptr) {
        if (*where != "end" && *where != "start") from.fail("its index is at " + where->dump());
        out.index_at_end = *where == "end";
    }
    const Encoding index = encoding_of(sharding.at("index_codecs"), out.shape.size(),
                                       {DataType::Kind::natural, 8}, from);
    out.index_big_endian = index.big_endian;
    out.index_codecs = index.codecs;
    for (const Codec& codec : index.codecs)
        if (codec.kind != Codec::Kind::crc32c)
            from.fail("its index is compressed by " + codec.name() +
                      ", so its length is not known");
}

// The format's r40 is "raw_bytes" with a length of 5 for zarr-python and TensorStore.
DataType type_of(const Value& value, const Reader& from) {
    const Named type(value, from);
    const auto length = type.configuration.find("length_bytes");
    const bool raw = type.name == "raw_bytes" && length != type.configuration.end() &&
                     length->is_number_integer();
    return type_of_name(raw ? "'|V" + length->dump() + "'" : type.name);
}

Value value_of(const DataType& type) {
    if (type.kind != DataType::Kind::raw) return type.name();
    return {{"name", "raw_bytes"}, {"configuration", {{"length_bytes", type.size}}}};
}

Metadata array_of(const Reader& from) {
    Metadata out;
    out.shape = from.extents("shape", 0);
    out.type = type_of(from.at("data_type"), from);
    const Named grid(from.at("chunk_grid"), from);
    if (grid.name != "regular") from.fail("its chunk grid '" + grid.name + "' is not regular");
    out.file = Reader(grid.configuration, from.what()).extents("chunk_shape", 1);
    out.chunk = out.file;
    const Named keys(from.at("chunk_key_encoding"), from);
    if (keys.name != "default" && keys.name != "v2")
        from.fail("its chunk key encoding is '" + keys.name + "'; hocket knows default and v2");
    out.default_keys = keys.name == "default";
    out.separator = out.default_keys ? '/' : '.';
    if (const auto found = keys.configuration.find("separator");
        found != keys.configuration.end()) {
        if (*found != "/" && *found != ".") from.fail("its separator is " + found->dump());
        out.separator = found->get<std::string>()[0];
    }
    const Value& codecs = from.at("codecs");
    if (!codecs.is_array() || codecs.empty()) from.fail("it has no codecs");
    const Named first(codecs[0], from);
    if (first.name == "sharding_indexed") {
        if (codecs.size() > 1)
            from.fail("its shards are encoded once more, which hocket does not read");
        read_sharding(first.configuration, out, from);
    } else {
        out.encoding = encoding_of(codecs, out.shape.size(), out.type, from);
    }
    if (const Value* extra = from.find("storage_transformers"); extra != nullptr && !extra->empty())
        from.fail("it has storage transformers, which hocket does not know");
    try {
        out.fill = fill_of_json(json::text(from.at("fill_value")), out.type);
    } catch (const Error& error) {
        from.fail(error.what());
    }
    out.dimension_names = names_of(from.find("dimension_names"), out.shape.size(), from);
    check(out, from);
    return out;
}

Value value_of(const Codec& codec) {
    if (codec.kind == Codec::Kind::crc32c) return {{"name", "crc32c"}};
    Value out = {{"name", codec.name()}, {"configuration", {{"level", codec.level}}}};
    if (codec.kind == Codec::Kind::zstd) out["configuration"]["checksum"] = codec.checksum;
    return out;
}

Value codecs_of(const Encoding& encoding, const DataType& type) {
    Value out = Value::array();
    if (!std::is_sorted(encoding.order.begin(), encoding.order.end()))
        out.push_back({{"name", "transpose"}, {"configuration", {{"order", encoding.order}}}});
    Value bytes = {{"name", "bytes"}};
    if (type.unit() > 1)
        bytes["configuration"] = {{"endian", encoding.big_endian ? "big" : "little"}};
    out.push_back(bytes);
    for (const Codec& codec : encoding.codecs) out.push_back(value_of(codec));
    return out;
}

Value sharding_of(const Metadata& array) {
    Value index = Value::array(
        {{{"name", "bytes"},
          {"configuration", {{"endian", array.index_big_endian ? "big" : "little"}}}}});
    for (const Codec& codec : array.index_codecs) index.push_back(value_of(codec));
    return {{"name", "sharding_indexed"},
            {"configuration",
             {{"chunk_shape", array.chunk},
              {"codecs", codecs_of(array.encoding, array.type)},
              {"index_codecs", index},
              {"index_location", array.index_at_end ? "end" : "start"}}}};
}

}  // namespace

Node parse_node(std::string_view text, const std::string& what) {
    const Value value = json::parse(text, what);
    const Reader from(value, what);
    const Value& format = from.at("zarr_format");
    if (format != 3)
        from.fail("its zarr_format is " + json::text(format) +
                  ", and hocket reads 3 there (and 2)");
    Node out;
    if (const Value* attributes = from.find("attributes"); attributes != nullptr) {
        if (!attributes->is_object()) from.fail("its attributes are no object");
        out.attributes = json::text(*attributes);
    }
    const std::string kind = from.text("node_type");
    if (kind != "array" && kind != "group") from.fail("its node_type is '" + kind + "'");
    out.is_array = kind == "array";
    if (out.is_array) {
        out.array = array_of(from);
        out.array.attributes = out.attributes;
        return out;
    }
    const Value* listed = from.find("consolidated_metadata");
    if (listed == nullptr || !listed->is_object()) return out;
    const Value* all = Reader(*listed, what).find("metadata");
    if (all == nullptr || !all->is_object()) return out;
    out.lists_below = true;
    for (const auto& [path, node] : all->items()) out.below.emplace_back(path, json::text(node));
    return out;
}

std::string text_of(const Metadata& array) {
    Value names = Value::array();
    for (const std::string& name : array.dimension_names)
        names.push_back(name.empty() ? Value(nullptr) : Value(name));
    const Value out = {
        {"zarr_format", 3},
        {"node_type", "array"},
        {"shape", array.shape},
        {"data_type", value_of(array.type)},
        {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", array.file}}}}},
        {"chunk_key_encoding",
         {{"name", array.default_keys ? "default" : "v2"},
          {"configuration", {{"separator", std::string(1, array.separator)}}}}},
        {"fill_value", array.type.kind == DataType::Kind::raw
                           ? Value(base64_of(array.fill))
                           : json::parse(json_of_fill(array.fill, array.type), "the fill value")},
        {"codecs", array.sharded ? Value::array({sharding_of(array)})
                                 : codecs_of(array.encoding, array.type)},
        {"attributes", json::parse(array.attributes, "the attributes")},
        {"dimension_names", names},
        {"storage_transformers", Value::array()}};
    return json::text(out);
}

std::string text_of_group(const std::string& attributes,
                          std::span<const std::pair<std::string, std::string>> below) {
    Value all = Value::object();
    for (const auto& [path, node] : below) json::append(all, path, json::parse(node, path));
    const Value out = {{"zarr_format", 3},
                       {"node_type", "group"},
                       {"attributes", json::parse(attributes, "the attributes")},
                       {"consolidated_metadata",
                        {{"kind", "inline"}, {"must_understand", false}, {"metadata", all}}}};
    return json::text(out);
}

std::string checked_attributes(const std::string& text) {
    // The metadata of a store has them some levels deeper.
    const Value value = json::parse(text, "the attributes' text", json::deepest / 2);
    if (!value.is_object()) throw Error("attributes are no JSON object: " + text.substr(0, 80));
    return json::text(value);
}

}  // namespace hocket::zarr
#endif
