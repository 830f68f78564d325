// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/ringed_tiles.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "kernel/fetch.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {

using base::ceil_div;

/// The tiles of one band after another, of one thread.
class RingedTiles::Band {
  public:
    explicit Band(const RingedTiles& of)
        : of_(of),
          side_(of.side),
          step_(of.block()),
          apart_(buffer_pitch(of.side, of.unit)),
          upwards_(of.packed && !of.gathers),
          kernel_(select_listed_tile_kernel(of.unit, of.side, of.side)) {
        const std::int64_t pitch = of.columns * of.unit;
        const Ring ring = of.ring(1);
        for (std::int64_t row = 0; row < side_; ++row) {
            from_.push_back(row * pitch);
            to_.push_back(of.packed ? ring.row_start(row) * step_ : row * pitch);
            buffered_.push_back(row * apart_);
        }
        if (!of.gathers) std::swap(from_, to_);
        lines_ = std::all_of(to_.begin(), to_.end(), [](auto offset) { return offset % 64 == 0; });
    }

    /// `places` are those of an item's rows in order, or none if that is the array's.
    void enter(std::byte* array, std::int64_t band, const std::vector<std::int64_t>& places) {
        const std::int64_t pitch = of_.columns * of_.unit;
        first_ = array + band * side_ * pitch;
        if (places.empty()) return;
        const std::int64_t in_item = std::ssize(places) / side_;
        first_ = array + band / in_item * std::ssize(places) * pitch;
        lines_ = pitch % 64 == 0;
        for (std::int64_t row = 0; row < side_; ++row) {
            const auto k = static_cast<std::size_t>(row);
            from_[k] = places[static_cast<std::size_t>(band % in_item * side_ + row)] * pitch;
        }
        first_ += from_[0];
        for (std::size_t k = from_.size(); k-- > 0;) from_[k] -= from_[0];
        to_ = from_;
    }
    /// Transposes the tiles [begin, end) as one ring: some into the buffer.
    void read(std::int64_t begin, std::int64_t end, std::byte* buffer) const {
        const ListedTile tile{.unit = of_.unit,
                              .ni = side_,
                              .nj = side_,
                              .source_rows = from_.data(),
                              .destination_rows = to_.data(),
                              .lines = lines_};
        ListedTile to_buffer = tile;
        to_buffer.destination_rows = buffered_.data();
        to_buffer.lines = true;
        const std::int64_t direction = upwards_ ? -1 : 1;
        for (std::int64_t k = 0; k < end - begin; ++k) {
            std::byte* const source = tile_at(upwards_ ? end - 1 - k : begin + k);
            Prefetcher ahead;
            if (k + 1 < end - begin)
                ahead = Prefetcher(source + direction * step_, from_, step_, side_ * step_);
            if (k <= of_.lag())
                transpose_strips(kernel_, source, buffer + k * side_ * apart_, to_buffer, &ahead);
            else
                transpose_strips(kernel_, source, source - direction * step_, tile, &ahead);
        }
    }
    /// Writes those, when all tiles of the ring have been read, and those of the band's others.
    void write(std::int64_t begin, std::int64_t end, const std::byte* buffer) const {
        const std::int64_t kept = std::min(of_.lag() + 1, end - begin);
        for (std::int64_t k = 0; k < kept; ++k) {
            const std::int64_t down = k == 0 ? end - 1 : begin + k - 1;
            std::byte* const to = tile_at(upwards_ ? begin + end - 1 - down : down);
            for (std::int64_t row = 0; row < side_; ++row, buffer += apart_)
                copy_cached(to + to_[static_cast<std::size_t>(row)], buffer, step_);
        }
    }
    /// The columns beyond the last tile as blocks, and back.
    void read_spare(std::byte* buffer) const {
        const std::int64_t spare = of_.spare(), row_bytes = spare * of_.unit;
        if (of_.gathers) {
            const Tile tile = transposed(side_, spare, of_.unit, from_[1], step_);
            return transpose_strips(select_tile_kernel(tile), tile_at(of_.across()), buffer, tile);
        }
        std::vector<std::int64_t> rows;
        for (std::int64_t row = 0; row < side_; ++row) rows.push_back(row * row_bytes);
        const std::vector<std::int64_t> blocks = places_of_spare();
        const ListedTile tile{.unit = of_.unit,
                              .ni = side_,
                              .nj = spare,
                              .source_rows = blocks.data(),
                              .destination_rows = rows.data(),
                              .lines = false};
        transpose_strips(kernel_, first_, buffer, tile);
    }
    void write_spare(const std::byte* buffer) const {
        const std::int64_t bytes = of_.spare() * of_.unit;
        if (of_.gathers) {
            for (const std::int64_t place : places_of_spare()) {
                copy_cached(first_ + place, buffer, step_);
                buffer += step_;
            }
            return;
        }
        for (std::int64_t row = 0; row < side_; ++row)
            copy_cached(tile_at(of_.across()) + to_[static_cast<std::size_t>(row)],
                        buffer + row * bytes, bytes);
    }

  private:
    std::byte* tile_at(std::int64_t tile) const { return first_ + tile * step_; }
    std::vector<std::int64_t> places_of_spare() const {
        const Ring ring = of_.ring(1);
        std::vector<std::int64_t> places;
        for (std::int64_t k = 0; k < of_.spare(); ++k)
            places.push_back((ring.row_start(ring.row_of_spare(k) + 1) - 1) * step_);
        return places;
    }

    const RingedTiles& of_;
    std::int64_t side_, step_, apart_;
    bool upwards_, lines_ = false;
    ListedTileKernel kernel_;
    std::vector<std::int64_t> from_, to_, buffered_;  // the offset of each row of a tile
    std::byte* first_ = nullptr;
};

std::int64_t RingedTiles::most_in_set(std::int64_t lines) const {
    constexpr std::int64_t line = 64;
    std::array<std::int64_t, near_method / line> used{};
    const std::vector<std::int64_t> places = order.places(side);
    for (std::int64_t row = 0; row < side; ++row) {
        const std::int64_t place = places.empty() ? row : places[static_cast<std::size_t>(row)];
        const std::int64_t first = place * columns * unit / line;
        for (std::int64_t at = 0; at < lines; ++at)
            ++used[static_cast<std::size_t>((first + at) % std::ssize(used))];
    }
    return *std::max_element(used.begin(), used.end());
}

bool RingedTiles::possible() const {
    // Rows that are a multiple of a large power of two apart share few sets: stores to them then
    // wait for the second level, one after another. (Measured. Another buffer for each tile, as for
    // pairs of them, costs more than the cycles gain.)
    return bands() > 0 && across() > 0 && most_in_set(1) <= near_methods;
}

bool RingedTiles::crowded() const {
    return most_in_set(2 * block() / 64 + 1) > near_methods;
}

/// Several rings a thread, so that a thread that lost its core does not delay the others much. The
/// rings of packed tiles wait for each other; all have places for the tiles in a buffer.
std::int64_t RingedTiles::in_ring(int threads) const {
    constexpr std::int64_t least = 8;  // otherwise too many tiles go through a buffer
    if (threads == 1 || (spare() > 0 && bands() >= 2 * threads)) return across();
    if (spare() == 0) {
        const std::int64_t rings = ceil_div(std::int64_t{8} * threads, bands());
        return std::min(std::max(least, ceil_div(across(), rings)), across());
    }
    const std::int64_t shortest = 8 * (lag() + 1), rings = ceil_div(std::int64_t{threads}, bands());
    const std::int64_t most = std::max(ceil_div(across(), rings), shortest);
    const std::int64_t rest = across() % most;
    return most >= across() || (rest > 0 && rest <= lag() + 1) ? across() : most;
}

std::int64_t RingedTiles::buffer_bytes() const {
    return (lag() + 1) * side * buffer_pitch(side, unit) + spare() * block();
}

std::int64_t RingedTiles::memory(int threads) const {
    const std::int64_t rings = bands() * ceil_div(across(), in_ring(threads));
    const bool all = spare() > 0 && rings > bands();
    return (all ? rings : threads) * (buffer_bytes() + 4096) + 8 * order.count();
}

void RingedTiles::transpose_band(std::byte* first) const {
    Band band(*this);
    band.enter(first, 0, {});
    std::byte* const buffer = thread_scratch(Scratch::panel, buffer_bytes());
    band.read(0, across(), buffer);
    band.write(0, across(), buffer);
}

void RingedTiles::transpose(std::byte* array, const Ring& ring, int threads) const {
    const std::int64_t most = ring.in_ring, rings = ceil_div(across(), most);
    const std::vector<std::int64_t> places = order.places(order.in_place() ? 0 : order.count());
    const bool together = spare() > 0 && rings > 1;
    std::vector<std::unique_ptr<std::byte[]>> buffers;
    for (std::int64_t k = 0; together && k < bands() * rings; ++k)
        buffers.emplace_back(new std::byte[static_cast<std::size_t>(buffer_bytes())]);
    const auto run = [&](std::int64_t k, bool reads, bool writes) {
        const std::int64_t begin = k % rings * most, end = std::min(begin + most, across());
        std::byte* const buffer = together ? buffers[static_cast<std::size_t>(k)].get()
                                           : thread_scratch(Scratch::panel, buffer_bytes());
        std::byte* const spared = buffer + buffer_bytes() - spare() * block();
        Band band(*this);
        band.enter(array, k / rings, places);
        const bool first = begin == 0 && spare() > 0;
        if (reads && first) band.read_spare(spared);
        if (reads) band.read(begin, end, buffer);
        if (writes) band.write(begin, end, buffer);
        if (writes && first) band.write_spare(spared);
    };
    base::parallel_for(threads, bands() * rings, [&](std::int64_t k) { run(k, true, !together); });
    if (together)
        base::parallel_for(threads, bands() * rings, [&](std::int64_t k) { run(k, false, true); });
}

}  // namespace hocket::kernel
