// SPDX-License-Identifier: BSD-3-Clause
// From bytes to bytes: what compresses a chunk, and what checks it.
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

    /// @throws Error for a codec that hocket does not know.
    static Codec named(const std::string& name);
    std::string name() const;
    /// @throws Error where it was built without the library, naming that; blosc is only read.
    void require(bool writing) const;
    friend bool operator==(const Codec&, const Codec&) = default;
};

/// The first codec is applied first. @throws Error
Bytes encode(std::span<const Codec> codecs, Bytes data);
/// Back, in reverse order; the result has `size` bytes. @throws Error for what is damaged.
Bytes decode(std::span<const Codec> codecs, Bytes data, std::int64_t size);

}  // namespace hocket::zarr
