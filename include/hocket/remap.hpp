// SPDX-License-Identifier: BSD-3-Clause
// Distributed arrays permuted within their own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"
#include "hocket/transfer.hpp"

namespace hocket {

/// The layout of the permuted array (its dimension k is dimension axes[k] of `layout`'s) with the
/// same distribution text, arrangement and order of processes: what remap_inplace gives.
/// @throws LayoutError if `axes` is no permutation; if another dimension would be dealt out
///         cyclically and either has not whole rounds (a multiple of k times the processes), or
///         blocks of the written size are too small for it; for alignments and
///         explicit segments; and where dimensions dealt out over different numbers of processes
///         change places with no undistributed one to rest in.
Layout remap_layout(const Layout& layout, std::span<const std::int64_t> axes);

/// Elements that process `rank` must have room for while it remaps: the larger of both local
/// arrays, and of those in between where several dimensions are distributed. @throws LayoutError
/// as remap_layout does, and if there is no such process.
std::int64_t remap_room(const Layout& layout, std::span<const std::int64_t> axes,
                        std::int64_t rank);

struct RemapOptions {
    int threads = 0;  ///< for each process; 0: base's default (HOCKET_THREADS, else its cores)
    Deadline deadline;
    /// Gets this call's seconds added: local turns count as `pack`.
    std::shared_ptr<Profile> profile;
};

/// Permutes a distributed array within its own memory, and gives the array that it has become:
/// the same memory, remap_layout(array.layout(), axes). `array` must not be used any more.
/// Collective. Beside the array each process uses 1 % of its part and 4 MiB a thread for local
/// turns, and 2 MiB for messages. Chunks are exchanged pairwise, in an order that works for any
/// number of processes; near processes swap them in each other's memory.
/// He and Ding, "MPI and OpenMP Paradigms on Cluster of SMP Architectures", section 3.2, G1 to G3.
/// @throws on every process, before anything has moved: LayoutError as remap_layout does; Error
///         for an array that is read-only, not dense and row-major, or whose memory has too little
///         room (Array::empty and Array::wrap tell how to give more). DeadlineError.
Array remap_inplace(const Array& array, std::span<const std::int64_t> axes,
                    const RemapOptions& options = {});

}  // namespace hocket
