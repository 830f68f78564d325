// SPDX-License-Identifier: BSD-3-Clause
// The passes that a plan may consist of, each with its cost and memory.
#pragma once

#include <cstdint>
#include <optional>

#include "kernel/inplace.hpp"
#include "kernel/panels.hpp"

namespace hocket::kernel {

/// Nothing where a step does not apply to the permutation.
Step cycles_step(const Permutation& permutation, const Resources& means, bool whole_table);
Step slab_step(const Permutation& permutation, const Resources& means);
std::optional<Step> square_step(const Permutation& permutation, const Resources& means);
std::optional<Step> tiles_step(const Permutation& permutation, const Resources& means);
std::optional<Step> trimmed_step(const Permutation& permutation, const Resources& means);

/// The dimension that the destination steps through fastest, split into parts of `width` that are
/// made blocks first, then moved by cycles; or the source's fastest, by cycles first, then taken
/// apart. The width is at most half the extent; any remainder goes through a buffer.
struct Split {
    Split(const Permutation& permutation, bool gather_first);

    const Permutation& permutation;
    bool gather_first;  // the destination's fastest dimension is split, else the source's
    Panels panels;      // whose width is to be chosen

    double cost() const;
    std::int64_t memory(const Resources& means) const;
    Step step(const Resources& means) const;

  private:
    std::size_t dimension() const;  // the one that is split
    Ring ring(int threads) const;
    Permutation of_blocks() const;
};

/// The whole fastest dimension of the destination brought last within each of its items (or the
/// source's, taken from there to where it belongs): a permutation of two dimensions that leaves
/// one of fewer dimensions with a longer block.
struct Reduction {
    Permutation turn;  // (inner, extent) <-> (extent, inner) in each item
    Permutation rest;
    bool turn_first;
};
Reduction reduce(const Permutation& permutation, bool gather_first);

}  // namespace hocket::kernel
