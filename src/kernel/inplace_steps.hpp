// SPDX-License-Identifier: BSD-3-Clause
// The possible passes of a plan, each with its cost and memory.
#pragma once

#include <cstdint>
#include <optional>

#include "kernel/inplace.hpp"
#include "kernel/panels.hpp"

namespace hocket::kernel {

/// Nothing if a step does not apply to the permutation.
Step cycles_step(const Permutation& permutation, const Resources& means, bool whole_table);
Step slab_step(const Permutation& permutation, const Resources& means);
std::optional<Step> square_step(const Permutation& permutation, const Resources& means);
std::optional<Step> tiles_step(const Permutation& permutation, const Resources& means);
std::optional<Step> trimmed_step(const Permutation& permutation, const Resources& means);
/// Their cost is infinite on a processor where it has not been measured.
std::optional<Step> shifted_step(const Permutation& permutation, const Resources& means);
std::optional<Step> ringed_step(const Permutation& permutation, const Resources& means);
std::optional<Step> grouped_step(const Permutation& permutation, const Resources& means);

/// Divides the destination's fastest dimension into parts of `width`, which a pass makes blocks
/// before cycles move them; or the source's fastest dimension, first by cycles, before a pass
/// divides the blocks. The width is at most half the extent; the remainder goes through a buffer.
struct Split {
    Split(const Permutation& permutation, bool gather_first);

    const Permutation& permutation;
    bool gather_first;  // divides the destination's fastest dimension, else the source's
    Panels panels;      // its width is not set yet

    double cost() const;
    std::int64_t memory(const Resources& means) const;
    Step step(const Resources& means) const;
    std::size_t dimension() const;  // the divided dimension

  private:
    Ring ring(int threads) const;
    Permutation of_blocks() const;
};

/// Two permutations, one after the other, that are another one together.
struct Sequence {
    Permutation first, then;
};
/// Moves the whole fastest dimension of the destination last within each of its items (or the
/// source's from there to its position, at the end). This permutation of two dimensions leaves one
/// of fewer dimensions with a longer block.
Sequence reduce(const Permutation& permutation, bool gather_first);
/// Moves rows of the source, its dimensions from `columns` on, so that the dimensions of rows have
/// the order of the result. The rest may permute parts of the array, each on its own.
Sequence order_rows(const Permutation& permutation, std::size_t columns);

}  // namespace hocket::kernel
