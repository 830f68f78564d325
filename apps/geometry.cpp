// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace apps {

std::vector<Block> blocks_of(const std::string& text) {
    std::vector<Block> found;
    std::istringstream all(text);
    for (std::string one; std::getline(all, one, ';');) {
        std::istringstream words(one);
        Block block{};
        char comma = 0;
        if (!(words >> block.row >> comma >> block.col >> comma >> block.rows >> comma >>
              block.cols) ||
            block.rows < 1 || block.cols < 1)
            throw hocket::Error("'" + one + "' is no block; give row,col,rows,cols");
        found.push_back(block);
    }
    if (found.empty()) throw hocket::Error("there is no block");
    return found;
}

std::vector<hocket::Slice> Edge::slices(const Block& of) const {
    const std::int64_t extents[] = {of.rows, of.cols};
    std::vector<hocket::Slice> found(2);
    found[across] = {upper ? extents[across] - 1 : 0, 1, 1, true};
    found[1 - across] = {first, count, 1, true};
    return found;
}

Edge Edge::reversed() const {
    return {other, block, across, !upper, other_first, count, first};
}

std::vector<Edge> edges_of(const std::vector<Block>& blocks) {
    std::vector<Edge> found;
    for (std::size_t a = 0; a < blocks.size(); ++a) {
        for (std::size_t b = a + 1; b < blocks.size(); ++b) {
            const std::int64_t starts[2][2] = {{blocks[a].row, blocks[a].col},
                                               {blocks[b].row, blocks[b].col}};
            const std::int64_t ends[2][2] = {
                {blocks[a].row + blocks[a].rows, blocks[a].col + blocks[a].cols},
                {blocks[b].row + blocks[b].rows, blocks[b].col + blocks[b].cols}};
            for (std::size_t d = 0; d < 2; ++d) {
                const bool upper = ends[0][d] == starts[1][d], lower = ends[1][d] == starts[0][d];
                const std::int64_t first = std::max(starts[0][1 - d], starts[1][1 - d]);
                const std::int64_t last = std::min(ends[0][1 - d], ends[1][1 - d]);
                if ((!upper && !lower) || first >= last) continue;
                found.push_back({a, b, d, upper, first - starts[0][1 - d], last - first,
                                 first - starts[1][1 - d]});
            }
        }
    }
    return found;
}

hocket::Shape arrangement(std::int64_t processes, const Block& block) {
    hocket::Shape best{processes, 1};
    double least = -1;
    for (std::int64_t p = 1; p <= processes; ++p) {
        if (processes % p != 0) continue;
        // The border of one process's part.
        const double border = static_cast<double>(block.rows) / static_cast<double>(p) +
                              static_cast<double>(block.cols) / static_cast<double>(processes / p);
        if (least < 0 || border < least) {
            least = border;
            best = {p, processes / p};
        }
    }
    return best;
}

}  // namespace apps
