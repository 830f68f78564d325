// SPDX-License-Identifier: BSD-3-Clause
// Copies whose tiles are short in one dimension: a block takes in further dimensions, until its
// rows are long pieces of contiguous memory on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/kernel.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {

/// A box as blocks of joined tiles. A block has rows that are contiguous in the source, of units of
/// several loops, one for each unit of a row that is contiguous in the destination, and the
/// reverse. The offsets of both are in tables.
class JoinedTiles {
  public:
    /// As TileGrid. `beyond_cache`: memory has to be prefetched.
    JoinedTiles(std::span<const Loop> loops, std::int64_t unit, Streaming streaming,
                bool beyond_cache);
    std::int64_t blocks() const { return blocks_; }
    /// Copies the blocks [first, last), counted along the source.
    void copy(const std::byte* source, std::byte* destination, std::int64_t first,
              std::int64_t last) const;

  private:
    static constexpr std::int64_t line = 64;  // bytes of the caches' lines

    /// Loops that are one contiguous run of units on one side; blocks may divide the last one.
    struct Side {
        std::int64_t inner = 1;  // units of all loops but the last
        Loop last{};
        std::int64_t together = 1;       // iterations of the last loop in a block
        std::vector<std::int64_t> rows;  // the offsets of a block's units on the other side
        bool lines = true;               // all of them are multiples of a cache line
        std::size_t loop = 0;            // that counts the blocks: its index in outer_

        Side() = default;
        /// `loops` are `bytes` bytes, fastest first, of which a block has about `wanted`; `across`:
        /// their stride on the other side.
        Side(std::span<const Loop> loops, std::int64_t bytes, std::int64_t wanted,
             std::int64_t unit, std::int64_t Loop::*across);
        std::int64_t units() const { return inner * together; }  // of a whole block
        std::int64_t units_of(std::int64_t block) const;
        std::int64_t blocks() const { return (last.extent + together - 1) / together; }
    };
    class Walk;
    /// Prefetches the block during so many bytes of other work.
    Prefetcher fetching(const Walk& block, const std::byte* source, std::int64_t work) const;

    Side row_, column_;        // contiguous in the destination; in the source
    std::vector<Loop> outer_;  // over blocks, outermost first
    std::int64_t unit_;
    ListedTileKernel kernel_;
    StreamCopy store_row_;
    bool staged_, streaming_, fetched_;
    bool dense_;         // a block is one contiguous piece of the source
    std::int64_t lead_;  // the number of blocks by which prefetches are ahead
    std::int64_t blocks_;
};

/// Whether joined tiles are faster than tiles of the last two of `loops`: these are short, and
/// there is a loop to join.
bool joining_pays(std::span<const Loop> loops, std::int64_t unit);

}  // namespace hocket::kernel
