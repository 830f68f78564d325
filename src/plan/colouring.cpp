// SPDX-License-Identifier: BSD-3-Clause
#include "plan/colouring.hpp"

#include <algorithm>

namespace hocket::plan {

namespace {

using Vertex = std::size_t;  // rows, then columns
constexpr std::int32_t none = -1;

/// The neighbour of each vertex by each colour.
class Colouring {
  public:
    Colouring(std::size_t vertices, std::int64_t colours)
        : colours_(static_cast<std::size_t>(colours)), by_(vertices * colours_, none) {}

    std::int32_t free_at(Vertex v) const {
        const auto* first = &by_[v * colours_];
        return static_cast<std::int32_t>(std::find(first, first + colours_, none) - first);
    }
    std::int32_t& by(Vertex v, std::int32_t c) {
        return by_[v * colours_ + static_cast<std::size_t>(c)];
    }
    void join(Vertex a, Vertex b, std::int32_t c) {
        by(a, c) = static_cast<std::int32_t>(b);
        by(b, c) = static_cast<std::int32_t>(a);
    }

    /// `c` is free at the row and `d` at the column. Makes `c` free at the column too, by
    /// exchanging the two colours along the path that starts there. The path cannot end in the row,
    /// because it would enter the row by `c`.
    void exchange(Vertex column, std::int32_t c, std::int32_t d) {
        std::vector<Vertex> path{column};
        for (std::int32_t next = c; by(path.back(), next) != none; next = next == c ? d : c)
            path.push_back(static_cast<Vertex>(by(path.back(), next)));
        for (const Vertex v : path) std::swap(by(v, c), by(v, d));
    }

  private:
    std::size_t colours_;
    std::vector<std::int32_t> by_;
};

}  // namespace

std::int64_t most_edges(const Edges& rows, std::int64_t columns) {
    std::vector<std::int64_t> count(static_cast<std::size_t>(columns), 0);
    std::int64_t most = 0;
    for (const auto& row : rows) {
        most = std::max(most, static_cast<std::int64_t>(row.size()));
        for (const std::int32_t column : row)
            most = std::max(most, ++count[static_cast<std::size_t>(column)]);
    }
    return most;
}

Edges colour(const Edges& rows, std::int64_t columns) {
    const std::int64_t colours = most_edges(rows, columns);
    Colouring colouring(rows.size() + static_cast<std::size_t>(columns), colours);
    const auto vertex = [&](std::int32_t column) {
        return rows.size() + static_cast<std::size_t>(column);
    };
    for (Vertex row = 0; row < rows.size(); ++row) {
        for (const std::int32_t column : rows[row]) {
            const std::int32_t c = colouring.free_at(row);
            if (colouring.by(vertex(column), c) != none)
                colouring.exchange(vertex(column), c, colouring.free_at(vertex(column)));
            colouring.join(row, vertex(column), c);
        }
    }
    Edges result = rows;
    for (Vertex row = 0; row < rows.size(); ++row) {
        for (std::int32_t c = 0; c < colours; ++c) {
            const std::int32_t met = colouring.by(row, c);
            if (met == none) continue;
            const auto column = met - static_cast<std::int32_t>(rows.size());
            const auto at = std::lower_bound(rows[row].begin(), rows[row].end(), column);
            result[row][static_cast<std::size_t>(at - rows[row].begin())] = c;
        }
    }
    return result;
}

}  // namespace hocket::plan
