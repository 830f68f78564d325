// SPDX-License-Identifier: BSD-3-Clause
// A tile as squares that a register kernel transposes, and a rim that it cannot transpose.
#pragma once

#include <cstring>

#include "kernel/tiles.hpp"

namespace hocket::kernel {

/// Transposes one square: `source` rows lie source_j bytes apart, `destination` rows
/// destination_i.
using Square = void (*)(const std::byte* source, std::int64_t source_j, std::byte* destination,
                        std::int64_t destination_i);

template <std::int64_t unit, std::int64_t side, Square square>
void transpose_by_squares(const std::byte* source, std::byte* destination, const Tile& tile) {
    const auto copy_units = [&](std::int64_t i0, std::int64_t i1, std::int64_t j0,
                                std::int64_t j1) {
        for (std::int64_t i = i0; i < i1; ++i)
            for (std::int64_t j = j0; j < j1; ++j)
                std::memcpy(destination + i * tile.destination_i + j * unit,
                            source + i * unit + j * tile.source_j, unit);
    };
    const std::int64_t whole_i = tile.ni - tile.ni % side;
    const std::int64_t whole_j = tile.nj - tile.nj % side;
    // Along the rows of the source, so that hardware prefetchers recognise them.
    for (std::int64_t j = 0; j < whole_j; j += side)
        for (std::int64_t i = 0; i < whole_i; i += side)
            square(source + i * unit + j * tile.source_j, tile.source_j,
                   destination + i * tile.destination_i + j * unit, tile.destination_i);
    copy_units(0, whole_i, whole_j, tile.nj);
    copy_units(whole_i, tile.ni, 0, tile.nj);
}

}  // namespace hocket::kernel
