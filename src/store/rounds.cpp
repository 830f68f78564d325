// SPDX-License-Identifier: BSD-3-Clause
#include "store/rounds.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "hocket/error.hpp"

namespace hocket::store {
namespace {

using zarr::extents_of;
using zarr::product_of;

// As many tiles of a grid as `most`, from the last dimension of the order on.
Shape grown(const Shape& counts, std::int64_t most, const std::vector<std::size_t>& order) {
    Shape out(counts.size(), 1);
    for (std::size_t k = counts.size(); k-- > 0;) {
        const std::size_t d = order[k];
        out[d] = std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(counts[d], 1));
        most /= out[d];
    }
    return out;
}

}  // namespace

Rounds::Rounds(const zarr::Metadata& array, const IndexBox& region, std::int64_t writers,
               std::int64_t buffer, std::vector<std::size_t> order)
    : order_(std::move(order)), region_(region), file_(array.file), writers_(writers) {
    for (std::size_t d = order_.size(); d < file_.size(); ++d) order_.push_back(d);
    const std::int64_t chunk = array.chunk_bytes();
    if (buffer < chunk)
        throw Error("a chunk has " + std::to_string(chunk) + " bytes, and max_buffer allows " +
                    std::to_string(buffer) + "; allow one chunk at least");
    group_ = Shape(file_.size(), 1);
    chunk_part_ = file_;
    in_file_ = tiles_ = files_ = zarr::whole_of(group_);
    if (zarr::is_empty(region)) {
        tile_count_ = 0;
        return;
    }
    files_ = zarr::tiles_of(region, file_);
    const Shape counts = extents_of(files_);
    const std::int64_t all = product_of(counts);
    const std::int64_t file_bytes = product_of(file_) * array.type.size;
    writers_ = std::max<std::int64_t>(1, std::min(writers, all));
    if (file_bytes <= buffer) {
        // At most so many that every writer gets some.
        group_ =
            grown(counts, std::min(buffer / file_bytes, base::ceil_div(all, writers_)), order_);
        largest_ = product_of(group_) * file_bytes;
    } else {
        chunk_part_ = grown(array.chunks_in_file(), buffer / chunk, order_);
        for (std::size_t d = 0; d < chunk_part_.size(); ++d) chunk_part_[d] *= array.chunk[d];
        in_file_ = zarr::whole_of(file_);
        for (std::size_t d = 0; d < file_.size(); ++d)
            in_file_.stop[d] = base::ceil_div(file_[d], chunk_part_[d]);
        parts_ = product_of(extents_of(in_file_));
        largest_ = product_of(chunk_part_) * array.type.size;
    }
    largest_ = std::min(largest_, product_of(extents_of(region)) * array.type.size);
    tiles_ = zarr::whole_of(counts);
    for (std::size_t d = 0; d < counts.size(); ++d)
        tiles_.stop[d] = base::ceil_div(counts[d], group_[d]);
    tile_count_ = product_of(extents_of(tiles_));
    writers_ = std::min(writers_, tile_count_);
    rounds_ = base::ceil_div(tile_count_, writers_) * parts_;
}

std::int64_t Rounds::tile(std::int64_t writer, std::int64_t round) const {
    const std::int64_t share = tile_count_ / writers_, more = tile_count_ % writers_;
    const std::int64_t mine = share + (writer < more ? 1 : 0);
    const std::int64_t first = writer * share + std::min(writer, more);
    const std::int64_t number = round / parts_;
    return number < mine ? first + number : -1;
}

Shape Rounds::tile_at(std::int64_t number) const {
    Shape at(order_.size(), 0);
    for (std::size_t k = order_.size(); k-- > 0;) {
        const std::size_t d = order_[k];
        at[d] = number % tiles_.stop[d];
        number /= tiles_.stop[d];
    }
    return at;
}

std::int64_t Rounds::tile_of(std::size_t d, std::int64_t index) const {
    return (index / file_[d] - files_.start[d]) / group_[d];
}

std::int64_t Rounds::end_of(std::size_t d, std::int64_t tile) const {
    return (files_.start[d] + (tile + 1) * group_[d]) * file_[d];
}

Rounds::Turn Rounds::turn_of(const Shape& tile) const {
    std::int64_t number = 0;
    for (const std::size_t d : order_) number = number * tiles_.stop[d] + tile[d];
    // The first `more` writers have one tile more.
    const std::int64_t share = tile_count_ / writers_, more = tile_count_ % writers_;
    const std::int64_t larger = more * (share + 1);
    if (number < larger) return {number % (share + 1) * parts_, number / (share + 1)};
    return {(number - larger) % share * parts_, more + (number - larger) / share};
}

Shape Rounds::file(std::int64_t writer, std::int64_t round) const {
    Shape at = tile_at(std::max<std::int64_t>(tile(writer, round), 0));
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = files_.start[d] + at[d] * group_[d];
    return at;
}

IndexBox Rounds::box(std::int64_t writer, std::int64_t round) const {
    IndexBox nothing{region_.start, region_.start};
    if (writer < 0 || writer >= writers_ || tile(writer, round) < 0) return nothing;
    IndexBox out = zarr::tile_at(file(writer, round), file_);
    for (std::size_t d = 0; d < group_.size(); ++d)
        out.stop[d] = out.start[d] + group_[d] * file_[d];
    if (parts_ > 1) {
        const Shape part = zarr::index_in(in_file_, round % parts_);
        for (std::size_t d = 0; d < part.size(); ++d) {
            const std::int64_t end = out.stop[d];
            out.start[d] += part[d] * chunk_part_[d];
            out.stop[d] = std::min(out.start[d] + chunk_part_[d], end);
        }
    }
    out = zarr::common(out, region_);
    return zarr::is_empty(out) ? nothing : out;
}

}  // namespace hocket::store
