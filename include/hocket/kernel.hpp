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

/// One loop over a box: how many steps, and how many bytes each is on both sides.
struct Loop {
    std::int64_t extent, source, destination;
};

/// How a copy writes: through the caches, or past them (no line of the destination is read first,
/// but who reads it next finds it in memory). `automatic` decides by size.
enum class Stores { automatic, cached, streaming };

/// One copy of an N-d box of elements from one strided place to another, prepared once (dimensions
/// fused and ordered, method chosen), run many times. Packing, unpacking, transposing and plain
/// copying are all this one thing, and nothing else in the project copies strided memory.
class Copy {
  public:
    Copy() = default;

    /// `extents` may hold zeros (nothing is copied) and be empty (one element). Strides are in
    /// bytes, may be negative on either side and zero in the source; elements of the destination
    /// must not overlap each other, nor the source.
    /// @throws Error if the three lists differ in length, or itemsize < 1.
    Copy(std::span<const std::int64_t> extents, std::int64_t itemsize,
         std::span<const std::int64_t> source_strides,
         std::span<const std::int64_t> destination_strides);

    /// Copies; on up to `threads` threads of the one pool where the box is large enough to pay.
    void run(const void* source, void* destination, int threads = 1,
             Stores stores = Stores::automatic) const;

    std::int64_t bytes() const { return bytes_; }
    /// True where the box is one contiguous run on that side.
    bool source_contiguous() const { return source_contiguous_; }
    bool destination_contiguous() const { return destination_contiguous_; }

  private:
    friend class RunsOf;  // kernel/runs_of.hpp
    enum class Method {
        runs,   // source and destination step fastest through the same dimension
        tiles,  // through different ones: blocks of both, in cache
    };
    std::vector<Loop> loops_;  // outermost first; fused; the contiguous run is not among them
    std::int64_t run_ = 0;     // bytes that lie together on both sides
    std::int64_t bytes_ = 0;
    std::int64_t source_first_ = 0, destination_first_ = 0;  // where the first run lies
    Method method_ = Method::runs;
    bool source_contiguous_ = true, destination_contiguous_ = true;
};

/// One vacancy-tracking cycle: its smallest place, and how many places it has.
struct Cycle {
    std::int64_t start, length;
    friend bool operator==(const Cycle&, const Cycle&) = default;
};

/// The cycles longer than 1 by which a dense row-major array of this shape is permuted in place
/// (destination dimension k is source dimension axes[k], as numpy.transpose), sorted by start.
/// Places are counted in the contiguous block that moves: trailing dimensions that stay last.
/// He and Ding, "MPI and OpenMP Paradigms on Cluster of SMP Architectures", section 2.
/// @throws LayoutError if `axes` is no permutation of the dimensions, or the size does not fit 63
///         bits.
std::vector<Cycle> cycles(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes);

/// The successive vacancies from place `start` until it comes round, `start` at both ends: as the
/// paper prints them. @throws LayoutError as `cycles`, and if there is no such place.
std::vector<std::int64_t> cycle_path(std::span<const std::int64_t> shape,
                                     std::span<const std::int64_t> axes, std::int64_t start);

struct PermuteOptions {
    int threads = 0;                ///< 0: base's default (HOCKET_THREADS, else the cores allowed)
    std::string schedule = "auto";  ///< see InplaceOptions; of the destination's first dimension
    Stores stores = Stores::automatic;
};

/// Copies a strided array permuted into another: destination dimension k is source dimension
/// axes[k]. Strides in bytes. With Stores::cached this is the two-array method of He and Ding,
/// equation 1, in its plain form. The two must not overlap: what certainly does is refused.
/// @throws LayoutError if `axes` is no permutation; Error for an unknown schedule, a negative
/// number
///         of threads, overlaps, and as Copy; nothing has moved then.
void permute(const void* source, std::span<const std::int64_t> shape,
             std::span<const std::int64_t> strides, std::int64_t itemsize,
             std::span<const std::int64_t> axes, void* destination,
             std::span<const std::int64_t> destination_strides, const PermuteOptions& options = {});

struct InplaceOptions {
    int threads = 0;  ///< 0: base's default
    /// How cycles are handed to threads (He and Ding, section 4.1): "auto", "static",
    /// "static,balanced", "guided[,n]", "dynamic[,n][,largest]", "affinity[,n]".
    std::string schedule = "auto";
    /// "auto", or one of "cycles" (vacancy tracking as the paper has it, from a table of all
    /// cycles), "slab" (each item through a buffer), "square" (tile swaps), "tiles" and "panels"
    /// (short blocks made long, then cycles).
    std::string method = "auto";
    /// Bytes that may be used beside the array; without, 1 % of it and 4 MiB a thread for "auto",
    /// and what it takes for a method that is named.
    std::optional<std::int64_t> cap;
};

/// Permutes a dense row-major array within its own memory.
/// @throws Error before the first element moves: the method is unknown or does not apply, the
///         schedule is unknown, the cap is too small, threads are negative; LayoutError: `axes` is
///         no permutation.
void permute_inplace(void* array, std::span<const std::int64_t> shape, std::int64_t itemsize,
                     std::span<const std::int64_t> axes, const InplaceOptions& options = {});

/// What permute_inplace would do and what that costs, in lines of text. @throws Error likewise.
std::string explain_permute(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes,
                            std::int64_t itemsize, const InplaceOptions& options = {});

}  // namespace hocket::kernel
