// SPDX-License-Identifier: BSD-3-Clause
#include "grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <tuple>

#include "../model.hpp"
#include "hocket/error.hpp"
#include "hocket/team.hpp"

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

// Among equals LAPACK takes the first row.
bool better(const double* a, const double* b, std::int64_t element) {
    if (a[0] < 0 || b[0] < 0) return b[0] < 0;
    const double x = std::fabs(a[element]), y = std::fabs(b[element]);
    return x == y ? a[0] < b[0] : x > y;
}

}  // namespace

Grid::Grid(const hocket::Comm& everyone, int rows, int columns, std::int64_t search_width)
    : rows_(rows),
      columns_(columns),
      row_(everyone.rank() % std::max(rows, 1)),
      column_(everyone.rank() / std::max(rows, 1)),
      shares_memory_(!apps::simulated && hocket::Team(everyone).shares_memory()),
      tasks_(one_task_each(everyone, rows, columns)),
      alone_(tasks_.comm()),
      search_width_(search_width) {}

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
    // Of few sizes, so that hocket gives the same memory again: the system's first use of a page
    // takes longer than copying it ten times.
    const auto rounded = std::bit_ceil(static_cast<std::uint64_t>(elements));
    return hocket::Array::empty(hocket::Layout({static_cast<std::int64_t>(rounded)}, "(*)"),
                                hocket::dtype_of<double>(), alone_);
}

// A message has no more than its own elements of a room, which is rounded.
hocket::Array Grid::start_of(const hocket::Array& room, std::int64_t count) const {
    return hocket::Array::wrap(room.data(), hocket::Layout({count}, "(*)"),
                               hocket::dtype_of<double>(), alone_, {}, room.keep());
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
        sharing.memory_.push_back(start_of(room(rows * columns), rows * columns));
        sharing.blocks_.push_back(
            {static_cast<double*>(sharing.memory_.back().data()), rows, columns, rows});
    }
    for (int r = 0; r < rows_; ++r) {
        if (r == row_) continue;
        const auto& [mine, theirs] =
            std::tie(sharing.memory_[sharing.me_], sharing.memory_[static_cast<std::size_t>(r)]);
        const int other = process(r, column_);
        // The send first: the other process waits for it.
        sharing.requests_.push_back(tasks_.send_init(mine, other));
        sharing.requests_.push_back(tasks_.recv_init(theirs, other));
    }
    return sharing;
}

void Sharing::exchange() {
    for (auto& request : requests_) request.start();
    for (auto& request : requests_) request.wait();
}

RowSum& Grid::row_sum(std::int64_t count) const {
    const auto [found, made] = row_sums_.try_emplace(count);
    RowSum& sum = found->second;
    if (!made) return sum;
    sum.me_ = column_;
    sum.memory_.push_back(start_of(room(count), count));
    const hocket::Array& mine = sum.memory_.front();
    sum.mine_ = mine.local<double>();
    std::ranges::fill(sum.mine_, 0.0);  // a sum may be of fewer numbers
    for (int c = 0; c < columns_; ++c) {
        if (c == column_) continue;
        const hocket::Array theirs = start_of(room(count), count);
        const int other = process(row_, c);
        sum.others_.emplace(c, RowSum::Other{theirs, tasks_.send_init(mine, other),
                                             tasks_.recv_init(theirs, other)});
    }
    return sum;
}

void RowSum::start(int column) {
    column_ = column;
    if (column != me_) {
        others_.at(column).send.start();
        return;
    }
    for (auto& [c, other] : others_) other.receive.start();
}

void RowSum::finish() {
    if (column_ != me_) {
        others_.at(column_).send.wait();
        return;
    }
    for (auto& [c, other] : others_) {
        other.receive.wait();
        const auto theirs = other.memory.local<double>();
        for (std::size_t i = 0; i < mine_.size(); ++i) mine_[i] += theirs[i];
    }
}

PivotSearch& Grid::pivot_search(std::int64_t elements) const {
    if (const auto found = searches_.lower_bound(elements); found != searches_.end())
        return found->second;
    PivotSearch& search = searches_[elements];
    search.count_ = PivotSearch::head + elements;
    search.me_ = row_;
    for (double** part : {&search.out_, &search.in_}) {
        search.memory_.push_back(start_of(room(search.count_), search.count_));
        *part = static_cast<double*>(search.memory_.back().data());
    }
    const auto round = [&](int other, bool sends, bool receives, bool decided = false) {
        PivotSearch::Round& added =
            search.rounds_.emplace_back(PivotSearch::Round{other, receives, decided});
        const int task = process(other, column_);
        if (sends) added.requests.push_back(tasks_.send_init(search.memory_[0], task));
        if (receives) added.requests.push_back(tasks_.recv_init(search.memory_[1], task));
    };
    // Rows beyond a power of two take part by another one.
    const int power = static_cast<int>(std::bit_floor(static_cast<unsigned int>(rows_)));
    if (row_ >= power) {
        round(row_ - power, true, false);
        round(row_ - power, false, true, true);
        return search;
    }
    if (row_ + power < rows_) round(row_ + power, false, true);
    for (int apart = 1; apart < power; apart *= 2) round(row_ ^ apart, true, true);
    if (row_ + power < rows_) round(row_ + power, true, false);
    return search;
}

void PivotSearch::decide(std::int64_t element) {
    const std::int64_t compared = head + element;
    for (Round& round : rounds_) {
        for (auto& request : round.requests) request.start();
        for (auto& request : round.requests) request.wait();
        if (!round.receives) continue;
        // Both sides choose alike, also if an element is no number.
        const bool mine =
            round.other > me_ ? better(out_, in_, compared) : !better(in_, out_, compared);
        if (round.decided || !mine) std::copy_n(in_, count_, out_);
    }
}

void wait(std::vector<hocket::Request>& requests) {
    for (auto& request : requests) request.wait();
    requests.clear();
}

}  // namespace linpack
