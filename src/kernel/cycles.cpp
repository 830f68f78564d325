// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "base/text.hpp"
#include "hocket/kernel.hpp"
#include "kernel/cycle_finder.hpp"
#include "kernel/permutation.hpp"

namespace hocket::kernel {
std::vector<Cycle> cycles(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes) {
    const Permutation permutation = make_permutation(shape, axes, 1);
    std::vector<Cycle> found;
    if (permutation.identity()) return found;
    const Successor next(permutation);
    const std::int64_t blocks = permutation.blocks();
    // Visits every position in turn, so that it finds each cycle at its smallest position.
    std::vector<bool> seen(static_cast<std::size_t>(blocks));
    for (std::int64_t start = 0; start < blocks; ++start) {
        std::int64_t length = 0;
        for (std::int64_t position = start; !seen[static_cast<std::size_t>(position)];
             position = next(position), ++length)
            seen[static_cast<std::size_t>(position)] = true;
        if (length > 1) found.push_back({start, length});
    }
    const std::size_t of_one = found.size();
    for (std::int64_t item = 1; item < permutation.batch; ++item)
        for (std::size_t k = 0; k < of_one; ++k)
            found.push_back({found[k].start + item * blocks, found[k].length});
    return found;
}

std::vector<std::int64_t> cycle_path(std::span<const std::int64_t> shape,
                                     std::span<const std::int64_t> axes, std::int64_t start) {
    const Permutation permutation = make_permutation(shape, axes, 1);
    const std::int64_t blocks = permutation.blocks();
    const std::int64_t positions = permutation.batch * blocks;
    if (positions == 0)
        throw LayoutError("there is no position " + std::to_string(start) + ": an array of shape " +
                          text::tuple(shape) + " has none");
    if (start < 0 || start >= positions)
        throw LayoutError("there is no position " + std::to_string(start) + ": shape " +
                          text::tuple(shape) + " permuted by axes " + text::tuple(axes) +
                          " moves " + std::to_string(positions) + " blocks of " +
                          std::to_string(permutation.block) + " elements; begin at 0 to " +
                          std::to_string(positions - 1));
    const Successor next(permutation);
    const std::int64_t first = start / blocks * blocks;
    std::vector<std::int64_t> path{start};
    do path.push_back(first + next(path.back() - first));
    while (path.back() != start);
    return path;
}

}  // namespace hocket::kernel
