// SPDX-License-Identifier: BSD-3-Clause
// Code that moves memory within one address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hocket/error.hpp"

namespace hocket::kernel {

struct Tile;  // kernel/tiles.hpp

/// One loop over a box: the number of iterations, and the stride in bytes on both sides.
struct Loop {
    std::int64_t extent, source, destination;
};

/// The kind of store instructions of a copy. `streaming` writes past the caches: it does not read
/// the destination's cache lines first, but the next reader finds the data in memory only.
/// `automatic` decides by size and processor.
enum class Stores { automatic, cached, streaming };

/// A copy of an N-d box of elements between two strided places, prepared once (fuses and orders the
/// dimensions, selects a method) and run many times. It packs, unpacks, transposes and copies; all
/// strided copies of hocket use it.
class Copy {
  public:
    Copy() = default;

    /// `extents` may contain zeros (nothing to copy) or be empty (one element). Strides are in
    /// bytes; they may be negative on either side, and zero in the source. Elements of the
    /// destination must not overlap each other, nor the source.
    /// @throws Error if the three lists differ in length, or itemsize < 1.
    Copy(std::span<const std::int64_t> extents, std::int64_t itemsize,
         std::span<const std::int64_t> source_strides,
         std::span<const std::int64_t> destination_strides);

    /// Copies, on up to `threads` threads of the thread pool if the box is large enough to benefit.
    void run(const void* source, void* destination, int threads = 1,
             Stores stores = Stores::automatic) const;

    std::int64_t bytes() const { return bytes_; }
    /// True where the box is one contiguous run on that side.
    bool source_contiguous() const { return source_contiguous_; }
    bool destination_contiguous() const { return destination_contiguous_; }

  private:
    friend class RunsOf;  // kernel/runs_of.hpp
    enum class Method {
        runs,   // the same dimension has the smallest stride in source and destination
        tiles,  // different dimensions have it: copies blocks that fit the cache
    };
    std::vector<Loop> loops_;  // outermost first; fused; without the contiguous run
    std::int64_t run_ = 0;     // bytes that are contiguous on both sides
    std::int64_t bytes_ = 0;
    std::int64_t source_first_ = 0, destination_first_ = 0;  // offset of the first run
    Method method_ = Method::runs;
    /// Of tiles of a small box: one of these.
    void (*tile_)(const std::byte*, std::byte*, const Tile&) = nullptr;
    void (*tiles_)(const std::byte*, std::byte*, const Tile&, const Loop&) = nullptr;
    bool source_contiguous_ = true, destination_contiguous_ = true;
};

/// One vacancy-tracking cycle: its smallest position, and its number of positions.
struct Cycle {
    std::int64_t start, length;
    friend bool operator==(const Cycle&, const Cycle&) = default;
};

/// The cycles longer than 1 that permute a dense row-major array of this shape in place, sorted by
/// start. Destination dimension k is source dimension axes[k], as in numpy.transpose. Positions
/// count units of the contiguous block that moves: the trailing dimensions that stay last. He and
/// Ding, "MPI and OpenMP Paradigms on Cluster of SMP Architectures", section 2.
/// @throws LayoutError if `axes` is no permutation of the dimensions, or the size does not fit 63
///         bits.
std::vector<Cycle> cycles(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes);

/// The successive vacancies of the cycle through position `start`, which is both first and last, as
/// the paper prints them. @throws LayoutError as `cycles` does, and if there is no such position.
std::vector<std::int64_t> cycle_path(std::span<const std::int64_t> shape,
                                     std::span<const std::int64_t> axes, std::int64_t start);

struct PermuteOptions {
    int threads = 0;                ///< 0: HOCKET_THREADS, else the available cores
    std::string schedule = "auto";  ///< see InplaceOptions; splits the first dimension of the
                                    ///< destination
    Stores stores = Stores::automatic;
};

/// Copies a strided array into another with permuted dimensions: destination dimension k is source
/// dimension axes[k]. Strides are in bytes. With Stores::cached this is the two-array method of He
/// and Ding, equation 1. The arrays must not overlap; hocket refuses overlaps that it can detect.
/// @throws LayoutError if `axes` is no permutation; Error for an unknown schedule, a negative
///         number of threads, overlaps, and as Copy. No element has moved then.
void permute(const void* source, std::span<const std::int64_t> shape,
             std::span<const std::int64_t> strides, std::int64_t itemsize,
             std::span<const std::int64_t> axes, void* destination,
             std::span<const std::int64_t> destination_strides, const PermuteOptions& options = {});

struct InplaceOptions {
    /// 0: HOCKET_THREADS, else the available cores. Arrays of less than 192 KiB use one, unless a
    /// method or schedule is named.
    int threads = 0;
    /// The assignment of cycles to threads (He and Ding, section 4.1): "auto", "static",
    /// "static,balanced", "guided[,n]", "dynamic[,n][,largest]", "affinity[,n]".
    std::string schedule = "auto";
    /// "auto", "cycles" (the paper's vacancy tracking, from a table of all cycles), "slab" (each
    /// item through a buffer), "square" (swaps tiles), "tiles" or "panels" (lengthens short blocks,
    /// then follows cycles).
    std::string method = "auto";
    /// The most bytes of memory beside the array. None: 1 % of the array and 4 MiB a thread for
    /// "auto", and as many as a named method needs. Threads keep their buffers for the next call:
    /// the caller's up to 4 MiB.
    std::optional<std::int64_t> cap = {};
};

/// Permutes a dense row-major array within its own memory.
/// @throws Error before the first element moves: the method is unknown or does not apply, the
///         schedule is unknown, the cap is too small, or the number of threads is negative.
///         LayoutError: `axes` is no permutation.
void permute_inplace(void* array, std::span<const std::int64_t> shape, std::int64_t itemsize,
                     std::span<const std::int64_t> axes, const InplaceOptions& options = {});

/// Explains in lines of text how permute_inplace would proceed, and its cost. @throws Error as
/// permute_inplace does.
std::string explain_permute(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes,
                            std::int64_t itemsize, const InplaceOptions& options = {});

/// The widest instructions that copies use: "avx512", "avx2", "sse2", "neon", or "none" where
/// hocket has portable C++ alone. HOCKET_CPU lowers it.
std::string vector_instructions();

/// Measures what each kind of pass of permute_inplace costs on this processor, `repeat` times each:
/// the text of the file of `hocket calibrate --passes`. Takes some 30 seconds with 3, and 0.7 GiB.
std::string measure_passes(int repeat = 3);

/// The origin of the costs by which permute_inplace chooses its passes: that file, or a processor.
/// @throws Error for a file that holds no costs.
std::string pass_costs_origin();

}  // namespace hocket::kernel
