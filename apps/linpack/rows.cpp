// SPDX-License-Identifier: BSD-3-Clause
#include "rows.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "../program.hpp"

namespace linpack {
namespace {

struct Part {
    std::int64_t first, count;
};

// As few as possible, all about as long.
std::vector<Part> parts_of(std::int64_t length, std::int64_t at_most) {
    std::vector<Part> found;
    const std::int64_t count = length / at_most + (length % at_most > 0 ? 1 : 0);
    for (std::int64_t i = 0; i < count; ++i)
        found.push_back({length * i / count, length * (i + 1) / count - length * i / count});
    return found;
}

// Seconds in which a message within a node usually arrives.
constexpr double briefly = 1e-4;

}  // namespace

std::int64_t tag_of(const Matrix& matrix, const Panel& panel, const Columns& columns) {
    return 1 + panel.step() * matrix.local().columns + columns.first;
}

std::vector<Columns> right_of(const Matrix& matrix, std::int64_t step, std::int64_t width,
                              bool ahead) {
    const std::int64_t next = std::min((step + 1) * matrix.nb(), matrix.n());
    const std::int64_t end = matrix.local().columns;
    std::int64_t at = matrix.local_column(next);
    std::vector<Columns> found;
    if (next < matrix.n() && matrix.column_owner(next) == matrix.grid().column()) {
        const std::int64_t panel = std::min(matrix.nb(), matrix.n() - next);
        // If all take part in each panel, it need not come early where messages are copies, nor
        // where the rows of all columns are one message: two take longer, and hide little.
        const bool early = ahead || matrix.grid().columns() > 1 ||
                           (width < matrix.local().columns && !matrix.grid().shares_memory());
        const std::int64_t more = early ? 0 : std::min(width - at % width, end - at);
        found.push_back({at, std::max(panel, more)});
        at += found.back().count;
    }
    for (; at < end; at += found.back().count)
        found.push_back({at, std::min(width - at % width, end - at)});
    return found;
}

// hocket keeps this memory for the next Swap: the system's would be touched anew each time.
Swap::Swap(const Matrix& matrix, const Panel& panel, Columns columns)
    : matrix_(&matrix),
      panel_(&panel),
      columns_(columns),
      memory_(matrix.grid().room(std::max(usual_room, panel.width() * columns.count))),
      pivot_rows_{static_cast<double*>(memory_.data()), panel.width(), columns.count,
                  panel.width()} {
    for (const auto& held : panel.exchange().held)
        rows_.push_back(matrix.grid().room(
            std::max(usual_room, static_cast<std::int64_t>(held.size()) * columns.count)));
}

Block Swap::rows_of(int row) const {
    const auto r = static_cast<std::size_t>(row);
    const auto rows = static_cast<std::int64_t>(panel_->exchange().held[r].size());
    return {static_cast<double*>(rows_[r].data()), rows, columns_.count, rows};
}

void Swap::gather() {
    const Exchange& exchange = panel_->exchange();
    const auto moved = static_cast<std::int64_t>(exchange.from.size());
    std::vector<double> kept(static_cast<std::size_t>(moved * together));
    const Block& all = matrix_->local();
    const Block mine = rows_of(matrix_->grid().row());
    for (std::int64_t j = 0; j < columns_.count; j += together) {
        const std::int64_t count = std::min(together, columns_.count - j);
        const Block here = all.part(0, columns_.first + j, all.rows, count),
                    moves{kept.data(), moved, count, moved};
        take_rows(here, exchange.pivots, mine.part(0, j, mine.rows, count));
        take_rows(here, exchange.from, moves);
        put_rows(moves, exchange.to, here);
    }
}

std::vector<hocket::Request> Swap::start(std::int64_t tag) {
    const Grid& grid = matrix_->grid();
    const Block out[] = {rows_of(grid.row())};
    std::vector<hocket::Request> requests;
    for (int r = 0; r < grid.rows(); ++r) {
        if (r == grid.row()) continue;
        const int process = grid.process(r, grid.column());
        const Block in[] = {rows_of(r)};
        if (out[0].rows > 0) requests.push_back(grid.send(out, process, tag));
        if (in[0].rows > 0) requests.push_back(grid.receive(in, process, tag));
    }
    // A step that paused for a message within the node would find its columns out of the cache.
    if (grid.shares_memory())
        for (const double end = apps::now() + briefly; !requests.empty() && apps::now() < end;) {
            std::erase_if(requests, [](hocket::Request& request) { return request.test(); });
            // The other process may need this core to send.
            if (!requests.empty()) std::this_thread::yield();
        }
    return requests;
}

void Swap::scatter() {
    const auto& held = panel_->exchange().held;
    for (std::size_t r = 0; r < held.size(); ++r)
        put_rows(rows_of(static_cast<int>(r)), held[r], pivot_rows_);
}

void update(const Matrix& matrix, Panel& panel, Swap& swap, const Product& subtract) {
    const Columns columns = swap.columns();
    const Exchange& exchange = panel.exchange();
    const std::int64_t first = exchange.after;
    const Block below = panel.below(first);
    swap.scatter();
    const Block& upper = swap.pivot_rows();
    multiply_lower(panel.top(), upper);
    take_rows(upper, exchange.held[static_cast<std::size_t>(matrix.grid().row())],
              matrix.local().part(exchange.before, columns.first, first - exchange.before,
                                  columns.count));
    subtract(below, upper, matrix.local().part(first, columns.first, below.rows, columns.count));
}

Product in_pieces(const Piece& piece, std::function<void()> between) {
    return [piece, between = std::move(between)](const Block& a, const Block& b, const Block& c) {
        for (const auto& [left, columns] : parts_of(c.columns, piece.columns))
            for (const auto& [top, rows] : parts_of(c.rows, piece.rows)) {
                between();
                subtract_product(a.part(top, 0, rows, a.columns), b.part(0, left, b.rows, columns),
                                 c.part(top, left, rows, columns));
            }
    };
}

// Different for consecutive panels: a flow may send the next one before this one is passed on.
// Rows, which use the same numbers, travel between other processes.
static std::int64_t tag_of(const Panel& panel) {
    return 1 + panel.step();
}

hocket::Request receive(const Matrix& matrix, Panel& panel) {
    const Grid& grid = matrix.grid();
    const int before = (grid.column() + grid.columns() - 1) % grid.columns();
    const auto all = panel.all();
    return grid.receive(all, grid.process(grid.row(), before), tag_of(panel));
}

std::vector<hocket::Request> pass_on(const Matrix& matrix, Panel& panel) {
    const Grid& grid = matrix.grid();
    const int after = (grid.column() + 1) % grid.columns();
    std::vector<hocket::Request> requests;
    const auto all = panel.all();
    if (after != panel.owner())
        requests.push_back(grid.send(all, grid.process(grid.row(), after), tag_of(panel)));
    return requests;
}

}  // namespace linpack
