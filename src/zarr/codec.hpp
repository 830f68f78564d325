// SPDX-License-Identifier: BSD-3-Clause
// Codecs: compression and checksums of chunks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "zarr/dtype.hpp"

namespace hocket::zarr {

struct Codec {
    enum class Kind { zstd, gzip, blosc, crc32c };
    Kind kind = Kind::zstd;
    int level = 0;
    bool checksum = false;  // of zstd's frame

    /// @throws Error for an unknown codec.
    static Codec named(const std::string& name);
    std::string name() const;
    /// @throws Error if hocket was built without the library, which the message names; blosc is
    ///         read-only.
    void require(bool writing) const;
    friend bool operator==(const Codec&, const Codec&) = default;
};

/// Applies the codecs in their order. @throws Error
Bytes encode(std::span<const Codec> codecs, Bytes data);
/// Applies them in reverse order; the result has `size` bytes. @throws Error for damaged data.
Bytes decode(std::span<const Codec> codecs, Bytes data, std::int64_t size);

}  // namespace hocket::zarr
