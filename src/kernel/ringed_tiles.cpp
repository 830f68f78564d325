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

constexpr std::int64_t line = 64;

/// The tiles of one band after another, of one thread.
class RingedTiles::Band {
  public:
    explicit Band(const RingedTiles& of, std::byte* seams = nullptr, std::byte* spares = nullptr)
        : of_(of),
          side_(of.side),
          step_(of.block()),
          apart_(buffer_pitch(of.side, of.unit)),
          upwards_(of.packed && !of.gathers),
          kernel_(select_listed_tile_kernel(of.unit, of.side, of.side)),
          seams_(seams),
          all_spares_(spares) {
        const std::int64_t pitch = of.columns * of.unit;
        const Ring ring = of.ring(1);
        for (std::int64_t row = 0; row < side_; ++row) {
            from_.push_back(row * pitch);
            to_.push_back(of.packed ? ring.row_start(row) * step_ : row * pitch);
            buffered_.push_back(row * apart_);
        }
        if (!of.gathers) std::swap(from_, to_);
        lines_ =
            std::all_of(to_.begin(), to_.end(), [](auto offset) { return offset % line == 0; });
    }

    /// `places` are those of an item's rows in order, or none if that is the array's.
    void enter(std::byte* array, std::int64_t band, const std::vector<std::int64_t>& places) {
        const std::int64_t pitch = of_.columns * of_.unit;
        first_ = array + band * side_ * pitch;
        if (places.empty()) return;
        const std::int64_t in_item = std::ssize(places) / side_;
        const Ring ring = of_.ring(1);
        first_ = array + band / in_item * std::ssize(places) * pitch;
        lines_ = pitch % line == 0 && !of_.packed;
        for (std::int64_t row = 0; row < side_; ++row) {
            const auto k = static_cast<std::size_t>(row);
            const std::int64_t place =
                places[static_cast<std::size_t>(band % in_item * side_ + row)];
            from_[k] = place * pitch;
            to_[k] = of_.packed ? ring.row_start(place) * step_ : from_[k];
        }
        if (!of_.gathers) std::swap(from_, to_);
        if (!seams_) return;
        spares_ = all_spares_ + band * of_.spare() * step_;
        seam_rows_.clear();
        for (std::int64_t row = 0; row < side_; ++row)
            seam_rows_.push_back((band / in_item * std::ssize(places) +
                                  places[static_cast<std::size_t>(band % in_item * side_ + row)]) *
                                 step_);
    }
    /// Transposes the tiles [begin, end) as one ring: some into the buffer.
    void read(std::int64_t begin, std::int64_t end, std::byte* buffer) const {
        const std::int64_t direction = upwards_ ? -1 : 1;
        const bool even = of_.order.in_place() && !upwards_;  // the rows that are read
        for (std::int64_t k = 0; k < end - begin; ++k) {
            const std::int64_t tile = upwards_ ? end - 1 - k : begin + k;
            std::byte* const source = tile_at(tile);
            Prefetcher ahead;
            if (k + 1 < end - begin) {
                const std::byte* const next = source + direction * step_;
                ahead = even ? Prefetcher(next, side_, of_.columns * of_.unit, step_, side_ * step_)
                             : Prefetcher(next, from_, step_, side_ * step_);
            }
            const bool seam = seams_ && upwards_ && tile == 0, waits = k <= of_.lag();
            ListedTile now{.unit = of_.unit,
                           .ni = side_,
                           .nj = side_,
                           .source_rows = (seam ? seam_rows_ : from_).data(),
                           .destination_rows = (waits ? buffered_ : to_).data(),
                           .lines = waits || lines_};
            transpose_strips(kernel_, seam ? seams_ : source,
                             waits ? buffer + k * side_ * apart_ : source - direction * step_, now,
                             &ahead);
        }
    }
    /// Writes those, when all tiles of the ring have been read, and those of the band's others.
    void write(std::int64_t begin, std::int64_t end, const std::byte* buffer) const {
        const std::int64_t kept = std::min(of_.lag() + 1, end - begin);
        for (std::int64_t k = 0; k < kept; ++k) {
            const std::int64_t down = k == 0 ? end - 1 : begin + k - 1;
            const std::int64_t tile = upwards_ ? begin + end - 1 - down : down;
            const bool seam = seams_ && !upwards_ && tile == 0;
            std::byte* const to = seam ? seams_ : tile_at(tile);
            for (const std::int64_t row : seam ? seam_rows_ : to_) {
                copy_cached(to + row, buffer, step_);
                buffer += apart_;
            }
        }
    }
    /// The columns beyond the last tile as blocks, and back.
    void read_spare(std::byte* buffer) const {
        const std::int64_t spare = of_.spare();
        const std::vector<std::int64_t> rows =
            of_.gathers ? spaced(spare, step_) : spaced(side_, spare * of_.unit);
        const std::vector<std::int64_t> blocks = places_of_spare();
        const ListedTile tile{.unit = of_.unit,
                              .ni = of_.gathers ? spare : side_,
                              .nj = of_.gathers ? side_ : spare,
                              .source_rows = (of_.gathers ? from_ : blocks).data(),
                              .destination_rows = rows.data(),
                              .lines = false};
        const std::byte* const source = of_.gathers ? tile_at(of_.across()) : spares();
        transpose_strips(kernel_, source, buffer, tile);
    }
    void write_spare(const std::byte* buffer) const {
        std::byte* const to = of_.gathers ? spares() : tile_at(of_.across());
        const std::int64_t bytes = of_.gathers ? step_ : of_.spare() * of_.unit;
        for (const std::int64_t row : of_.gathers ? places_of_spare() : to_) {
            copy_cached(to + row, buffer, bytes);
            buffer += bytes;
        }
    }

  private:
    std::byte* tile_at(std::int64_t tile) const { return first_ + tile * step_; }
    std::byte* spares() const { return spares_ ? spares_ : first_; }
    /// From spares() on.
    std::vector<std::int64_t> places_of_spare() const {
        if (spares_) return spaced(of_.spare(), step_);
        const Ring ring = of_.ring(1);
        std::vector<std::int64_t> places;
        for (std::int64_t k = 0; k < of_.spare(); ++k)
            places.push_back(ring.place_of_spare(k) * step_);
        return places;
    }
    static std::vector<std::int64_t> spaced(std::int64_t count, std::int64_t pitch) {
        std::vector<std::int64_t> rows;
        for (std::int64_t row = 0; row < count; ++row) rows.push_back(row * pitch);
        return rows;
    }

    const RingedTiles& of_;
    std::int64_t side_, step_, apart_;
    bool upwards_, lines_ = false;
    ListedTileKernel kernel_;
    std::vector<std::int64_t> from_, to_, buffered_;  // the offset of each row of a tile
    std::vector<std::int64_t> seam_rows_;
    std::byte *seams_, *all_spares_;
    std::byte *first_ = nullptr, *spares_ = nullptr;
};

/// Blocks of packed rows in order that lie in the end of a row of another band, or may lie in one
/// of its rows: they wait in a buffer until all bands have been read, or since before that.
class RingedTiles::Seams {
  public:
    Seams(const RingedTiles& of, std::byte* array) : of_(of), array_(array), ring_(of.ring(1)) {
        if (of.has_seams()) buffer_.reset(new std::byte[static_cast<std::size_t>(of.seam_bytes())]);
    }
    std::byte* first_blocks() const { return buffer_.get(); }
    std::byte* spare_blocks() const {
        return buffer_ ? buffer_.get() + of_.rows * of_.block() : nullptr;
    }
    void read(int threads) const { each(threads, false); }
    void write(int threads) const { each(threads, true); }

  private:
    void each(int threads, bool writes) const {
        const std::int64_t in_item = of_.order.count(), spare = of_.bands() * of_.spare();
        const std::int64_t blocks = in_item * of_.columns / of_.side, bytes = of_.block();
        const std::int64_t spare_in_item = in_item / of_.side * of_.spare();
        const auto copy = [&](std::int64_t block, std::byte* waiting) {
            std::byte* const place = array_ + block * bytes;
            copy_cached(writes ? place : waiting, writes ? waiting : place, bytes);
        };
        const std::int64_t parts = std::int64_t{4} * threads;
        base::parallel_for(threads, parts, [&](std::int64_t part) {
            for (std::int64_t row = of_.rows * part / parts; row < of_.rows * (part + 1) / parts;
                 ++row)
                copy(row / in_item * blocks + ring_.row_start(row % in_item),
                     first_blocks() + row * bytes);
            for (std::int64_t k = spare * part / parts; k < spare * (part + 1) / parts; ++k)
                copy(k / spare_in_item * blocks + ring_.place_of_spare(k % spare_in_item),
                     spare_blocks() + k * bytes);
        });
    }
    const RingedTiles& of_;
    std::byte* array_;
    Ring ring_;
    std::unique_ptr<std::byte[]> buffer_;
};

std::int64_t RingedTiles::most_in_set(std::int64_t lines) const {
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
    // Rows that are a multiple of a large power of two apart share few sets: on a core that fetches
    // into its first level, stores to them then wait for the second, one after another. (Measured;
    // on another, with 8 lines a set, 24 rows gain and more do not. Another buffer for each tile,
    // as for pairs of them, costs more than the cycles gain.)
    constexpr std::int64_t many = 24;
    if (bands() == 0 || across() == 0) return false;
    const std::int64_t shared = most_in_set(1);
    return shared <= most_near_methods ||
           (distances().fetching == Fetching::second_level && shared <= many && shared < side);
}

int RingedTiles::crowded() const {
    constexpr std::int64_t tiles = 2;
    if (tiles * side * block() > near_methods() * near_method) return 2;
    return most_in_set(tiles * block() / line + 1) > near_methods() ? 1 : 0;
}

/// Several rings a thread, so that a thread that lost its core does not delay the others much. The
/// rings of packed tiles wait for each other; all have places for the tiles in a buffer.
std::int64_t RingedTiles::in_ring(int threads) const {
    constexpr std::int64_t least = 8;  // otherwise too many tiles go through a buffer
    if (threads == 1 || (spare() > 0 && bands() / 2 >= threads)) return across();
    if (spare() == 0) {
        const std::int64_t rings = ceil_div(std::int64_t{8} * threads, bands());
        return std::min(std::max(least, ceil_div(across(), rings)), across());
    }
    const std::int64_t shortest = 8 * (lag() + 1), rings = ceil_div(std::int64_t{threads}, bands());
    const std::int64_t most = std::max(ceil_div(across(), rings), shortest);
    const std::int64_t even = ceil_div(across(), ceil_div(across(), most)), rest = across() % even;
    return even >= across() || (rest > 0 && rest <= lag() + 1) ? across() : even;
}

std::int64_t RingedTiles::buffer_bytes() const {
    return (lag() + 1) * side * buffer_pitch(side, unit) + spare() * block();
}

std::int64_t RingedTiles::memory(int threads) const {
    const std::int64_t rings = bands() * ceil_div(across(), in_ring(threads));
    const bool all = spare() > 0 && rings > bands();
    return (all ? rings : threads) * (buffer_bytes() + 4096) + 8 * order.count() +
           (has_seams() ? seam_bytes() : 0);
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
    const Seams seams(*this, array);
    std::vector<std::unique_ptr<std::byte[]>> buffers;
    for (std::int64_t k = 0; together && k < bands() * rings; ++k)
        buffers.emplace_back(new std::byte[static_cast<std::size_t>(buffer_bytes())]);
    const auto run = [&](std::int64_t k, bool reads, bool writes) {
        const std::int64_t begin = k % rings * most, end = std::min(begin + most, across());
        std::byte* const buffer = together ? buffers[static_cast<std::size_t>(k)].get()
                                           : thread_scratch(Scratch::panel, buffer_bytes());
        std::byte* const spared = buffer + buffer_bytes() - spare() * block();
        Band band(*this, seams.first_blocks(), seams.spare_blocks());
        band.enter(array, k / rings, places);
        const bool first = begin == 0 && spare() > 0;
        if (reads && first) band.read_spare(spared);
        if (reads) band.read(begin, end, buffer);
        if (writes) band.write(begin, end, buffer);
        if (writes && first) band.write_spare(spared);
    };
    if (has_seams() && !gathers) seams.read(threads);
    base::parallel_for(threads, bands() * rings, [&](std::int64_t k) { run(k, true, !together); });
    if (together)
        base::parallel_for(threads, bands() * rings, [&](std::int64_t k) { run(k, false, true); });
    if (has_seams() && gathers) seams.write(threads);
}

}  // namespace hocket::kernel
