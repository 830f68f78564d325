// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum of shard indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hocket::zarr {

/// By the processor's instruction, if it has one.
std::uint32_t crc32c(std::span<const std::byte> data);
/// By a table, on any processor.
std::uint32_t crc32c_by_table(std::span<const std::byte> data);

}  // namespace hocket::zarr
