// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "hocket/error.hpp"
#include "zarr/crc32c.hpp"
#include "zarr/metadata.hpp"
#include "zarr/shard.hpp"

namespace {

using namespace hocket::zarr;
using hocket::Error;
using hocket::Shape;

Bytes bytes_of(std::string_view text) {
    Bytes out(text.size());
    std::memcpy(out.data(), text.data(), text.size());
    return out;
}

template <class Function>
std::string error_of(Function&& function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

Metadata made(Shape shape, Shape chunks, Shape shards, const std::string& type = "float64",
              const std::string& fill = "0") {
    Wanted wanted;
    wanted.shape = std::move(shape);
    wanted.type = type_of_name(type);
    wanted.chunks = std::move(chunks);
    wanted.shards = std::move(shards);
    wanted.fill = fill;
    return make_metadata(wanted);
}

// RFC 3720, appendix B.4.
TEST(Crc32c, IsThatOfTheStandard) {
    Bytes data(32);
    EXPECT_EQ(crc32c(data), 0x8A9136AAU);
    for (std::size_t k = 0; k < 32; ++k) data[k] = static_cast<std::byte>(k);
    EXPECT_EQ(crc32c(data), 0x46DD794EU);
    EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
    for (std::size_t size = 0; size < 40; ++size) {
        Bytes some(size);
        for (std::size_t k = 0; k < size; ++k) some[k] = static_cast<std::byte>(37 * k + size);
        EXPECT_EQ(crc32c(some), crc32c_by_table(some)) << size;
    }
}

TEST(Codec, GivesBackWhatItTook) {
    std::mt19937 random(7);
    for (const char* name : {"zstd", "gzip", "crc32c"})
        for (const std::size_t size : {0U, 1U, 7U, 70000U}) {
            Bytes data(size);
            for (std::byte& byte : data) byte = static_cast<std::byte>(random() % 4);
            const std::vector<Codec> codecs{Codec::named(name), Codec::named("crc32c")};
            Bytes coded = encode(codecs, data);
            EXPECT_EQ(decode(codecs, coded, static_cast<std::int64_t>(size)), data) << name;
            coded.back() ^= std::byte{1};
            EXPECT_THROW(decode(codecs, coded, static_cast<std::int64_t>(size)), Error) << name;
        }
}

TEST(Codec, RefusesWhatIsDamaged) {
    const std::vector<Codec> zstd{Codec::named("zstd")};
    const Bytes coded = encode(zstd, Bytes(1000));
    EXPECT_THROW(decode(zstd, coded, 999), Error);
    EXPECT_THROW(decode(zstd, coded, 1001), Error);
    EXPECT_THROW(decode(zstd, {coded.begin(), coded.end() - 1}, 1000), Error);
    EXPECT_THROW(decode(zstd, {}, 1000), Error);
    EXPECT_NE(error_of([] { Codec::named("zst"); }).find("did you mean 'zstd'"), std::string::npos);
}

TEST(DataType, IsKnownByEveryName) {
    for (const char* name : {"bool", "int8", "int64", "uint16", "float16", "float64", "complex128"})
        EXPECT_EQ(type_of_name(name).name(), name);
    EXPECT_EQ(type_of_name("r24").size, 3);
    EXPECT_EQ(type_of_name("'|V3'").name(), "r24");
    EXPECT_NE(error_of([] { type_of_name("'<M8[D]'"); }).find("type '<M8[D]' is"),
              std::string::npos);
    bool big = false;
    EXPECT_EQ(type_of_v2(">i4", big).name(), "int32");
    EXPECT_TRUE(big);
    for (const char* name : {"float128", "int7", "string", "r7", "", "uint", "complex32"})
        EXPECT_THROW(type_of_name(name), Error) << name;
    for (const char* name : {"<U4", "|O", "f8", "<f3", ""})
        EXPECT_THROW(type_of_v2(name, big), Error);
}

TEST(Fill, IsWrittenAsItWasRead) {
    const std::vector<std::pair<std::string, std::string>> values{
        {"float64", "\"NaN\""},
        {"float32", "\"-Infinity\""},
        {"float64", "-1.5"},
        {"float16", "0.5"},
        {"float16", "65504.0"},
        {"float16", "\"Infinity\""},
        {"int8", "-128"},
        {"uint8", "255"},
        {"int64", "-9223372036854775808"},
        {"bool", "true"},
        {"complex64", "[1.0,\"NaN\"]"},
        {"uint64", "18446744073709551615"},
        {"r16", "[1,255]"}};
    for (const auto& [type, json] : values)
        EXPECT_EQ(json_of_fill(fill_of_json(json, type_of_name(type)), type_of_name(type)), json);
    EXPECT_EQ(json_of_fill(fill_of_json("\"0x3fc00000\"", type_of_name("float32")),
                           type_of_name("float32")),
              "1.5");
    EXPECT_EQ(json_of_fill(fill_of_json("\"Af8=\"", type_of_name("r16")), type_of_name("r16")),
              "[1,255]");
    // binary16 rounds to the nearest, ties to even, down to its smallest number.
    const auto half = [](const std::string& json) {
        return fill_of_json(json, type_of_name("float16"));
    };
    EXPECT_EQ(half("2049"), half("2048"));
    EXPECT_EQ(half("2051"), half("2052"));
    EXPECT_EQ(half("5.9604644775390625e-08")[0], std::byte{1});
    EXPECT_EQ(half("2.9e-08"), half("0"));
    for (const auto& [type, json] :
         std::vector<std::pair<std::string, std::string>>{{"int8", "128"},
                                                          {"uint8", "-1"},
                                                          {"float32", "\"nan\""},
                                                          {"bool", "2"},
                                                          {"r16", "[1]"},
                                                          {"int32", "1.5"},
                                                          {"float32", "\"0x1\""},
                                                          {"complex64", "[1]"}})
        EXPECT_THROW(fill_of_json(json, type_of_name(type)), Error) << type << ' ' << json;
}

TEST(Metadata, SaysTheSameAfterItsText) {
    for (const Shape& shards : {Shape{}, Shape{4, 6}}) {
        const Metadata array = made({10, 6}, {2, 3}, shards, "float32", "\"NaN\"");
        const Node node = parse_node(text_of(array), "a text");
        ASSERT_TRUE(node.is_array);
        EXPECT_EQ(text_of(node.array), text_of(array));
        EXPECT_EQ(node.array.sharded, !shards.empty());
        EXPECT_EQ(node.array.key(Shape{1, 2}), "c/1/2");
    }
    EXPECT_EQ(made({}, {}, {}).key({}), "c");
}

TEST(Metadata, KeepsIntegersOfAnySizeAndTextsThatLookAlike) {
    for (const std::string text :
         {"{\"a\":18446744073709551616}", "{\"a\":[-9223372036854775809,18446744073709551615]}",
          "{\"a\":1.5,\"18446744073709551616\":\"18446744073709551616\"}",
          "{\"a\":\"\\\"\xEF\xBF\xBF 12\",\"b\":{\"c\":-340282366920938463463374607431768211456}}",
          "{\"a\":\"x\\\"\xEF\xBF\xBF"
          "12\"}",
          "{\"a\":\"\\\\\",\"b\":18446744073709551616}",
          "{\"a\":18446744073709551616,\"b\":{\"bytes\":[1],\"subtype\":null}}",
          "{\"a\":\"\xEF\xBF\xBF"
          "18446744073709551616\",\"b\":[]}"})
        EXPECT_EQ(checked_attributes(text), text);
    for (const std::string text :
         {"{\"a\":018446744073709551616}", "{\"a\":--1}", "{\"a\":184467440737095516161-1}",
          "{\"a\":-}", "{18446744073709551616:1}"})
        EXPECT_THROW(checked_attributes(text), Error) << text;
    const std::string longest = "{\"a\":1" + std::string(308, '0') + "}";
    EXPECT_EQ(checked_attributes(longest), longest);
    EXPECT_EQ(fill_of_json("100000000000000000000", type_of_name("float64")),
              fill_of_json("1e20", type_of_name("float64")));
    EXPECT_THROW(fill_of_json("18446744073709551616", type_of_name("uint64")), Error);
}

TEST(Metadata, ChoosesExtentsThatSuitTheSize) {
    const Metadata small = made({100, 10}, {}, {});
    EXPECT_EQ(small.chunk, (Shape{100, 10}));
    EXPECT_FALSE(small.sharded);
    const Metadata large = made({8192, 8192}, {}, {});
    EXPECT_LE(large.chunk_bytes(), std::int64_t{4} << 20);
    EXPECT_GE(large.chunk_bytes(), std::int64_t{1} << 20);
    EXPECT_TRUE(large.sharded);
    const std::int64_t shard = large.file[0] * large.file[1] * 8;
    EXPECT_GE(shard, std::int64_t{64} << 20);
    EXPECT_LE(shard, std::int64_t{256} << 20);
    EXPECT_EQ(made({0, 5}, {}, {}).file_counts(), (Shape{0, 1}));
}

TEST(Metadata, RefusesWhatItDoesNotKnow) {
    const std::string good = text_of(made({10, 6}, {2, 3}, {4, 6}));
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        if (at != std::string::npos) text.replace(at, from.size(), to);
        return error_of([&] { parse_node(text, "zarr.json"); });
    };
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos ? std::string() : text + " lacks " + part;
    };
    EXPECT_EQ(has(changed("\"zarr_format\":3", "\"zarr_format\":4"), "zarr_format is 4"), "");
    EXPECT_EQ(has(changed("\"float64\"", "\"string\""), "'string'"), "");
    EXPECT_EQ(has(changed("\"zstd\"", "\"lz77\""), "'lz77'"), "");
    EXPECT_EQ(has(changed("\"regular\"", "\"rectilinear\""), "rectilinear"), "");
    EXPECT_EQ(has(changed("[4,6]", "[4,5]"), "no multiple"), "");
    EXPECT_EQ(has(changed("[4,6]", "[4]"), "number of dimensions"), "");
    EXPECT_EQ(has(changed("[4,6]", "[4,0]"), "extent"), "");
    EXPECT_EQ(has(changed("[10,6]", "[4611686018427387904,6]"), "2^63"), "");
    EXPECT_EQ(has(changed("\"array\"", "\"thing\""), "node_type"), "");
    EXPECT_EQ(has(changed("{", "["), "no JSON"), "");
    EXPECT_THROW(made({10}, {3}, {4}), Error);
    EXPECT_THROW(made({10}, {0}, {}), Error);
    EXPECT_THROW(made({10}, {1, 1}, {}), Error);
}

TEST(Metadata, OfVersion2IsRead) {
    const Metadata array = parse_v2(
        R"({"zarr_format":2,"shape":[4,6],"chunks":[2,3],"dtype":">i2","compressor":)"
        R"({"id":"blosc","cname":"lz4","clevel":5},"fill_value":7,"order":"F","filters":null})",
        R"({"_ARRAY_DIMENSIONS":["y","x"],"units":"K"})", ".zarray");
    EXPECT_EQ(array.key(Shape{1, 2}), "1.2");
    EXPECT_TRUE(array.encoding.big_endian);
    EXPECT_EQ(array.encoding.order, (std::vector<std::size_t>{1, 0}));
    EXPECT_EQ(array.dimension_names, (std::vector<std::string>{"y", "x"}));
    EXPECT_EQ(array.attributes, R"({"units":"K"})");
}

TEST(Shard, IndexIsChecked) {
    const Metadata array = made({8, 6}, {2, 3}, {4, 6});
    ShardIndex index(4);
    index[1] = {10, 20};
    index[3] = {0, 10};
    const Bytes data = encode_index(array, index);
    ASSERT_EQ(static_cast<std::int64_t>(data.size()), index_bytes(array));
    EXPECT_EQ(decode_index(array, data, 98), index);
    EXPECT_NE(error_of([&] { decode_index(array, data, 29); }).find("chunk 1"), std::string::npos);
    Bytes wrong = data;
    wrong[17] ^= std::byte{4};
    EXPECT_NE(error_of([&] { decode_index(array, wrong, 98); }).find("checksum"),
              std::string::npos);
    index[0] = {~std::uint64_t{0} - 1, 5};
    EXPECT_THROW(decode_index(array, encode_index(array, index), 98), Error);
}

}  // namespace
