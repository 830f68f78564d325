// SPDX-License-Identifier: BSD-3-Clause
// Remaps: permutations of distributed arrays within their own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"
#include "hocket/transfer.hpp"

namespace hocket {

/// The layout that remap_inplace gives: dimension k of the permuted array is dimension axes[k] of
/// `layout`'s; distribution text, arrangement and order of processes stay.
/// @throws LayoutError if `axes` is no permutation; for alignments and explicit segments; if a
///         cyclic dimension after the permutation has not whole rounds (a multiple of k times the
///         processes) before or after it; if blocks of the given size are too small for the new
///         dimension; and if dimensions over different numbers of processes change places and every
///         dimension is distributed.
Layout remap_layout(const Layout& layout, std::span<const std::int64_t> axes);

/// The number of elements that the memory of process `rank` must hold for remap_inplace: the larger
/// local array of both layouts, and of the intermediate ones if several dimensions are distributed.
/// @throws LayoutError as remap_layout does, and if there is no such process.
std::int64_t remap_room(const Layout& layout, std::span<const std::int64_t> axes,
                        std::int64_t rank);

struct RemapOptions {
    int threads = 0;  ///< for each process; 0: HOCKET_THREADS, else its cores
    Deadline deadline = {};
    /// Adds the seconds of this call; local permutations count as `pack`.
    std::shared_ptr<Profile> profile = {};
};

/// Permutes a distributed array within its own memory, and returns the permuted array: the same
/// memory with remap_layout(array.layout(), axes). The program must not use `array` afterwards.
/// Collective. Beside the array, each process uses 1 % of its part and 4 MiB a thread for local
/// permutations, and 2 MiB for messages. Processes exchange chunks pairwise, in an order that works
/// for any number of processes; processes of one node swap them in shared memory. He and Ding, "MPI
/// and OpenMP Paradigms on Cluster of SMP Architectures", section 3.2, G1 to G3.
/// @throws on every process, before any element moves: LayoutError as remap_layout does; Error for
///         an array that is read-only, not dense and row-major, or has too little memory
///         (Array::empty and Array::wrap take `room`). DeadlineError.
Array remap_inplace(const Array& array, std::span<const std::int64_t> axes,
                    const RemapOptions& options = {});

}  // namespace hocket
