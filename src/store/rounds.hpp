// SPDX-License-Identifier: BSD-3-Clause
// Which process writes (or reads) which files of an array, and when: by arithmetic alone.
//
// The files that a region meets are grouped into tiles: boxes of whole files, as many as fit into
// the buffer, or parts of one file, boxes of whole chunks. Writer w has a range of tiles (of files,
// where they have parts), shared out as BALANCED does, so a file has one writer. In round k it
// takes the k-th of them. Tiles are numbered along the dimensions that the array's layout
// distributes first, so that most of a tile lies on its writer.
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
    /// than a chunk.
    /// `order`: dimensions as tiles are numbered along them, slowest first; empty: as they are.
    Rounds(const zarr::Metadata& array, const IndexBox& region, std::int64_t writers,
           std::int64_t buffer, std::vector<std::size_t> order = {});

    std::int64_t writers() const { return writers_; }
    std::int64_t count() const { return rounds_; }
    /// How many rounds a file takes; 1: each tile is of whole files.
    std::int64_t parts() const { return parts_; }
    bool takes(std::int64_t writer, std::int64_t round) const { return tile(writer, round) >= 0; }
    /// What writer `writer` takes in that round, in indices of the array, within the region; empty:
    /// nothing.
    IndexBox box(std::int64_t writer, std::int64_t round) const;
    /// The file that the box is a part of, where files have parts.
    Shape file(std::int64_t writer, std::int64_t round) const;
    /// The bytes that no box has more of.
    std::int64_t largest() const { return largest_; }

    /// The coordinate of the tile that has this index of dimension `d`, and where that tile ends.
    std::int64_t tile_of(std::size_t d, std::int64_t index) const;
    std::int64_t end_of(std::size_t d, std::int64_t tile) const;
    struct Turn {
        std::int64_t first_round, writer;  ///< it lasts `parts()` rounds
        friend auto operator<=>(const Turn&, const Turn&) = default;
    };
    /// Who takes the tile at these coordinates, and when.
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
