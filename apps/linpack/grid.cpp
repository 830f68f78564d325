// SPDX-License-Identifier: BSD-3-Clause
#include "grid.hpp"

#include <cmath>
#include <string>
#include <tuple>

#include "hocket/error.hpp"

namespace linpack {
namespace {

hocket::Tasks one_task_each(const hocket::Comm& everyone, int rows, int columns) {
    if (rows < 1 || columns < 1 || std::int64_t{rows} * columns != everyone.size())
        throw hocket::Error("a grid of " + std::to_string(rows) + "x" + std::to_string(columns) +
                            " needs " + std::to_string(std::int64_t{rows} * columns) +
                            " processes, and there are " + std::to_string(everyone.size()));
    std::vector<hocket::TaskRequest> requests;
    for (int rank = 0; rank < everyone.size(); ++rank)
        requests.push_back({std::to_string(rank), std::int64_t{1}});
    return {requests, everyone};
}

hocket::Mask column_of(const hocket::Comm& everyone, int rows) {
    hocket::Mask mask;
    const int first = everyone.rank() / rows * rows;
    for (int r = 0; r < rows; ++r) mask.add(first + r);
    return mask;
}

// Among equals LAPACK takes the first row.
const Candidate& better(const Candidate& a, const Candidate& b, int element) {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    const double x = std::fabs(a.elements[element]), y = std::fabs(b.elements[element]);
    if (x == y) return a.place < b.place ? a : b;
    return x > y ? a : b;
}

}  // namespace

Grid::Grid(const hocket::Comm& everyone, int rows, int columns)
    : rows_(rows),
      columns_(columns),
      row_(everyone.rank() % std::max(rows, 1)),
      column_(everyone.rank() / std::max(rows, 1)),
      tasks_(one_task_each(everyone, rows, columns)),
      alone_(tasks_.comm()),
      team_(hocket::Team(everyone).enqueue(column_of(everyone, rows))) {}

std::vector<hocket::Array> Grid::arrays(std::span<const Block> blocks) const {
    constexpr auto item = static_cast<std::int64_t>(sizeof(double));
    std::vector<hocket::Array> found;
    for (const Block& block : blocks)
        found.push_back(hocket::Array::wrap(
            block.data, hocket::Layout({block.columns, block.rows}, "(*, *)"),
            hocket::dtype_of<double>(), alone_, hocket::Shape{block.stride * item, item}));
    return found;
}

hocket::Array Grid::room(std::int64_t elements) const {
    return hocket::Array::empty(hocket::Layout({elements}, "(*)"), hocket::dtype_of<double>(),
                                alone_);
}

hocket::Request Grid::send(std::span<const Block> blocks, int process, std::int64_t tag) const {
    return tasks_.isend(arrays(blocks), process, {.tag = static_cast<int>(tag % (1 << 30))});
}

hocket::Request Grid::receive(std::span<const Block> blocks, int process, std::int64_t tag) const {
    return tasks_.irecv(arrays(blocks), process, {.tag = static_cast<int>(tag % (1 << 30))});
}

Sharing& Grid::sharing(std::int64_t rows, std::int64_t columns) const {
    const auto [found, made] = sharings_.try_emplace({rows, columns});
    Sharing& sharing = found->second;
    if (!made) return sharing;
    sharing.me_ = static_cast<std::size_t>(row_);
    for (int r = 0; r < rows_; ++r) {
        sharing.memory_.push_back(room(rows * columns));
        sharing.blocks_.push_back(
            {static_cast<double*>(sharing.memory_.back().data()), rows, columns, rows});
    }
    for (int r = 0; r < rows_; ++r) {
        if (r == row_) continue;
        const auto& [mine, theirs] =
            std::tie(sharing.memory_[sharing.me_], sharing.memory_[static_cast<std::size_t>(r)]);
        const int other = process(r, column_);
        sharing.requests_.push_back(tasks_.recv_init(theirs, other));
        sharing.requests_.push_back(tasks_.send_init(mine, other));
    }
    return sharing;
}

void Sharing::exchange() {
    for (auto& request : requests_) request.start();
    for (auto& request : requests_) request.wait();
}

Candidate Grid::best(const Candidate& mine, int element) const {
    static_assert(sizeof(Candidate) <= hocket::team::longest_value, "one exchange takes it");
    return team_.reduce(
        mine, [element](const Candidate& a, const Candidate& b) { return better(a, b, element); });
}

void wait(std::vector<hocket::Request>& requests) {
    for (auto& request : requests) request.wait();
    requests.clear();
}

}  // namespace linpack
