// SPDX-License-Identifier: BSD-3-Clause
// For libFuzzer: any bytes are metadata of a store, the index of a shard, an encoded chunk or the
// header of an .npy file, or raise Error; metadata that is read has a text that gives the same
// back. `make soak` runs it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "zarr/metadata.hpp"
#include "zarr/npy.hpp"
#include "zarr/shard.hpp"

using namespace hocket::zarr;

namespace {

template <class Make>
void attempt(Make&& make) {
    try {
        make();
    } catch (const hocket::Error& error) {
        if (std::string_view(error.what()).empty()) std::abort();
    }
}

void check(const Node& node) {
    if (!node.is_array) return;
    const std::string text = text_of(node.array);
    if (text_of(parse_node(text, "its own text").array) == text) return;
    std::fprintf(stderr, "%s\n", text.c_str());
    std::abort();
}

Metadata sharded() {
    Wanted wanted;
    wanted.type = type_of_name("int32");
    wanted.shape = wanted.shards = {8, 6};
    wanted.chunks = {2, 3};
    return make_metadata(wanted);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Metadata array = sharded();
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    Bytes bytes(size - 1);
    if (!bytes.empty()) std::memcpy(bytes.data(), text.data(), bytes.size());
    switch (data[0] % 5) {
        case 0:
            attempt([&] { check(parse_node(text, "zarr.json")); });
            break;
        case 1:
            attempt([&] { static_cast<void>(text_of(parse_v2(text, "", ".zarray"))); });
            break;
        case 2:
            attempt([&] {
                Metadata plain = array;
                plain.index_codecs.clear();  // so that the rest is reached
                for (const ChunkPlace& chunk : decode_index(plain, bytes, 4096))
                    if (!chunk.missing() && chunk.offset + chunk.bytes > 4096) std::abort();
            });
            break;
        case 4:
            attempt([&] {
                const Metadata npy = parse_npy(text, "a.npy");
                if (npy.encoding.order.size() != npy.shape.size()) std::abort();
            });
            break;
        default:
            for (const Codec::Kind kind :
                 {Codec::Kind::zstd, Codec::Kind::gzip, Codec::Kind::blosc})
                attempt([&] {
                    Codec codec;
                    codec.kind = kind;
                    if (decode(std::span(&codec, 1), bytes, 24).size() != 24) std::abort();
                });
    }
    return 0;
}
