// SPDX-License-Identifier: BSD-3-Clause
// The assignment of an array's files to processes and rounds: by arithmetic alone.
//
// The files that a region intersects are grouped into tiles. A tile is a box of whole files, as
// many as fit into the buffer, or a part of one file, a box of whole chunks. Writer w has a range
// of tiles (of files, if they have parts), as in BALANCED, so a file has one writer. In round k it
// takes the k-th of them. Tiles grow along the dimensions that the array's layout does not
// distribute, and are numbered along the others first, so that most of a tile is on its writer.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "zarr/boxes.hpp"
#include "zarr/metadata.hpp"

namespace hocket::store {

class Rounds {
  public:
    /// `buffer`: bytes of elements that a writer holds at a time. @throws Error if that is less
    /// than a chunk. `order`: dimensions in the numbering of tiles, slowest first; empty: in their
    /// order.
    Rounds(const zarr::Metadata& array, const IndexBox& region, std::int64_t writers,
           std::int64_t buffer, std::vector<std::size_t> order = {});

    std::int64_t writers() const { return writers_; }
    std::int64_t count() const { return rounds_; }
    /// The number of rounds of a file; 1: each tile consists of whole files.
    std::int64_t parts() const { return parts_; }
    bool takes(std::int64_t writer, std::int64_t round) const { return tile(writer, round) >= 0; }
    /// The box of writer `writer` in that round, in indices of the array, within the region; may be
    /// empty.
    IndexBox box(std::int64_t writer, std::int64_t round) const;
    /// The file of that box, if files have parts.
    Shape file(std::int64_t writer, std::int64_t round) const;
    /// The bytes of the largest box.
    std::int64_t largest() const { return largest_; }

    /// The coordinate of the tile with this index of dimension `d`, and the tile's end.
    std::int64_t tile_of(std::size_t d, std::int64_t index) const;
    std::int64_t end_of(std::size_t d, std::int64_t tile) const;
    struct Turn {
        std::int64_t first_round, writer;  ///< it lasts `parts()` rounds
        friend auto operator<=>(const Turn&, const Turn&) = default;
    };
    /// The writer and round of the tile at these coordinates.
    Turn turn_of(const Shape& tile) const;

  private:
    /// The number of the writer's tile, or -1.
    std::int64_t tile(std::int64_t writer, std::int64_t round) const;
    /// Coordinates of the tile with this number.
    Shape tile_at(std::int64_t number) const;

    std::vector<std::size_t> order_;
    IndexBox region_, files_;
    Shape group_;       // files of a tile
    Shape chunk_part_;  // extents of a part of a file, in elements
    IndexBox tiles_;    // the grid of tiles
    IndexBox in_file_;  // the grid of a file's parts
    Shape file_;
    std::int64_t writers_, tile_count_ = 0, parts_ = 1, rounds_ = 0, largest_ = 0;
};

}  // namespace hocket::store
