// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include "base/text.hpp"
#include "hocket/error.hpp"
#include "zarr/buffers.hpp"
#include "zarr/crc32c.hpp"

#ifdef HOCKET_ZSTD
#include <zstd.h>
#endif
#ifdef HOCKET_ZLIB
#include <zlib.h>
#endif
#ifdef HOCKET_BLOSC
#include <blosc.h>
#endif

namespace hocket::zarr {
namespace {

[[noreturn]] void damaged(const std::string& codec, const std::string& why) {
    throw Error("a chunk cannot be decoded by " + codec + ": " + why +
                "; the file is damaged, so restore it from a copy");
}

[[maybe_unused, noreturn]] void not_here(const std::string& codec, const std::string& library) {
    throw Error("hocket was built without " + library + ", which the codec " + codec +
                " needs; install it (Debian: " + library + "-dev) and build again");
}

[[noreturn]] void wrong_size(const std::string& codec, std::size_t found, std::size_t wanted) {
    damaged(codec,
            "it has " + std::to_string(found) + " bytes instead of " + std::to_string(wanted));
}

#ifdef HOCKET_ZSTD
struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

Bytes zstd_encode(const Codec& codec, const Bytes& data) {
    // One a thread: making one costs more than a small chunk does.
    thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, codec.level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, codec.checksum ? 1 : 0);
    Bytes out = Buffers::instance().take(ZSTD_compressBound(data.size()));
    const std::size_t size =
        ZSTD_compress2(context.get(), out.data(), out.size(), data.data(), data.size());
    if (ZSTD_isError(size) != 0U)
        throw Error(std::string("zstd cannot compress a chunk: ") + ZSTD_getErrorName(size));
    out.resize(size);
    return out;
}

Bytes zstd_decode(const Bytes& data, std::size_t most) {
    // So that a short damaged chunk takes no memory.
    const unsigned long long said = ZSTD_getFrameContentSize(data.data(), data.size());
    if (said == ZSTD_CONTENTSIZE_ERROR) damaged("zstd", "it does not begin as a frame of zstd");
    if (said != ZSTD_CONTENTSIZE_UNKNOWN && said > most) wrong_size("zstd", said, most);
    Bytes out = Buffers::instance().take(most);
    const std::size_t size = ZSTD_decompress(out.data(), out.size(), data.data(), data.size());
    if (ZSTD_isError(size) != 0U) damaged("zstd", ZSTD_getErrorName(size));
    out.resize(size);
    return out;
}
#endif

#ifdef HOCKET_ZLIB
Bytes gzip_encode(const Codec& codec, const Bytes& data) {
    z_stream stream{};
    if (deflateInit2(&stream, codec.level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw Error("zlib has no compression level " + std::to_string(codec.level) +
                    "; give one from 0 to 9");
    Bytes out(deflateBound(&stream, data.size()) + 32);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int end = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (end != Z_STREAM_END) throw Error("zlib cannot compress a chunk");
    return out;
}

Bytes gzip_decode(const Bytes& data, std::size_t most) {
    z_stream stream{};
    if (inflateInit2(&stream, 15 + 32) != Z_OK) throw Error("zlib cannot begin");  // or zlib's own
    Bytes out(std::max<std::size_t>(most, 1));  // inflate takes no nullptr
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int end = inflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    if (end != Z_STREAM_END) damaged("gzip", "its stream does not end in the chunk's size");
    return out;
}
#endif

#ifdef HOCKET_BLOSC
Bytes blosc_decode(const Bytes& data, std::size_t most) {
    std::size_t size = 0;
    if (blosc_cbuffer_validate(data.data(), data.size(), &size) < 0 || size > most)
        damaged("blosc", "its header does not fit");
    Bytes out(size);
    const int written = blosc_decompress_ctx(data.data(), out.data(), out.size(), 1);
    if (written < 0 || static_cast<std::size_t>(written) != size)
        damaged("blosc", "error " + std::to_string(written));
    return out;
}
#endif

// Recycles the memory of the input.
[[maybe_unused]] Bytes replaced(Bytes& before, Bytes after) {
    Buffers::instance().give(std::move(before));
    return after;
}

std::array<std::byte, 4> checksum_of(std::span<const std::byte> data) {
    const std::uint32_t value = crc32c(data);
    return {static_cast<std::byte>(value), static_cast<std::byte>(value >> 8U),
            static_cast<std::byte>(value >> 16U), static_cast<std::byte>(value >> 24U)};
}

Bytes checked(Bytes data) {
    if (data.size() < 4) damaged("crc32c", "it is shorter than its checksum");
    const std::size_t size = data.size() - 4;
    const auto wanted = checksum_of({data.data(), size});
    if (std::memcmp(data.data() + size, wanted.data(), 4) != 0)
        damaged("crc32c", "its checksum is another");
    data.resize(size);
    return data;
}

Bytes encode_by(const Codec& codec, Bytes data) {
    // zlib counts in 32 bits, and blosc in less.
    if (codec.kind == Codec::Kind::gzip && data.size() > std::numeric_limits<std::uint32_t>::max())
        throw Error("gzip compresses chunks of less than 4 GiB; make them smaller");
    switch (codec.kind) {
#ifdef HOCKET_ZSTD
        case Codec::Kind::zstd:
            return replaced(data, zstd_encode(codec, data));
#endif
#ifdef HOCKET_ZLIB
        case Codec::Kind::gzip:
            return gzip_encode(codec, data);
#endif
        case Codec::Kind::crc32c: {
            const auto sum = checksum_of(data);
            data.insert(data.end(), sum.begin(), sum.end());
            return data;
        }
        default:
            codec.require(true);
            return data;
    }
}

Bytes decode_by(const Codec& codec, Bytes data, [[maybe_unused]] std::size_t most) {
    switch (codec.kind) {
#ifdef HOCKET_ZSTD
        case Codec::Kind::zstd:
            return replaced(data, zstd_decode(data, most));
#endif
#ifdef HOCKET_ZLIB
        case Codec::Kind::gzip:
            return gzip_decode(data, most);
#endif
#ifdef HOCKET_BLOSC
        case Codec::Kind::blosc:
            return blosc_decode(data, most);
#endif
        case Codec::Kind::crc32c:
            return checked(std::move(data));
        default:
            codec.require(false);
            return data;
    }
}

const std::vector<std::string> known{"zstd", "gzip", "blosc", "crc32c"};

}  // namespace

Codec Codec::named(const std::string& name) {
    const auto found = std::find(known.begin(), known.end(), name == "zlib" ? "gzip" : name);
    if (found == known.end())
        throw Error("the codec '" + name + "' is none that hocket knows" +
                    text::did_you_mean(name, known) + "; it knows none, " +
                    text::quoted_list(known));
    Codec codec;
    codec.kind = static_cast<Kind>(found - known.begin());
    if (codec.kind == Kind::gzip) codec.level = 5;
    return codec;
}

std::string Codec::name() const {
    return known[static_cast<std::size_t>(kind)];
}

void Codec::require([[maybe_unused]] bool writing) const {
#ifndef HOCKET_ZSTD
    if (kind == Kind::zstd) not_here("zstd", "libzstd");
#endif
#ifndef HOCKET_ZLIB
    if (kind == Kind::gzip) not_here("gzip", "zlib1g");
#endif
    if (kind != Kind::blosc) return;
    if (writing)
        throw Error("hocket reads chunks of the codec blosc, and does not write them; take zstd");
#ifndef HOCKET_BLOSC
    not_here("blosc", "libblosc");
#endif
}

Bytes encode(std::span<const Codec> codecs, Bytes data) {
    for (const Codec& codec : codecs) data = encode_by(codec, std::move(data));
    return data;
}

Bytes decode(std::span<const Codec> codecs, Bytes data, std::int64_t size) {
    const auto wanted = static_cast<std::size_t>(size);
    for (std::size_t k = codecs.size(); k-- > 0;) {
        // Between two codecs the size is unknown, but the first one hardly increases it.
        const std::size_t most = k == 0 ? wanted : wanted + wanted / 8 + (1U << 16U);
        data = decode_by(codecs[k], std::move(data), most);
    }
    if (data.size() != wanted)
        wrong_size(codecs.empty() ? "bytes" : codecs.front().name(), data.size(), wanted);
    return data;
}

}  // namespace hocket::zarr
