// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/region.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/overlap.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket {
namespace {

using Dimension = Region::Dimension;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a ^ b) * 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}

std::uint64_t digest_of(const std::byte* from, std::int64_t bytes, std::uint64_t seed) {
    std::uint64_t out = seed;
    for (; bytes >= 8; bytes -= 8, from += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, 8);
        out = mixed(out, word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, from, static_cast<std::size_t>(bytes));
    return mixed(out, rest);
}

// Whether two boxes of one stride share a byte: rows of a_run and b_run bytes; the first row of b
// begins `apart` bytes after that of a.
bool rows_meet(std::int64_t apart, std::int64_t a_run, std::int64_t b_run, std::int64_t stride,
               std::int64_t a_rows, std::int64_t b_rows) {
    // b_run > -(apart + t*stride) and apart + t*stride < a_run for some -(a_rows-1) <= t < b_rows.
    const base::wide least =
        base::ceil_div<base::wide>(static_cast<base::wide>(1) - b_run - apart, stride);
    const base::wide most =
        base::floor_div<base::wide>(static_cast<base::wide>(a_run) - 1 - apart, stride);
    return std::max<base::wide>(least, 1 - a_rows) <= std::min<base::wide>(most, b_rows - 1);
}

}  // namespace

Region::Region(const void* data, std::int64_t bytes)
    : start_(reinterpret_cast<std::uintptr_t>(data)), bytes_(bytes) {
    if (bytes < 0)
        throw Error("a region of " + std::to_string(bytes) + " bytes cannot be; give 0 or more");
    end_ = start_ + static_cast<std::uintptr_t>(bytes);
}

Region::Region(const void* data, std::span<const std::int64_t> extents,
               std::span<const std::int64_t> strides, std::int64_t itemsize)
    : start_(reinterpret_cast<std::uintptr_t>(data)), bytes_(itemsize) {
    if (extents.size() != strides.size())
        throw Error("a region has extents " + text::tuple(extents) + " but strides " +
                    text::tuple(strides) + "; give one stride a dimension");
    if (itemsize < 1)
        throw Error("a region has items of " + std::to_string(itemsize) + " bytes; give 1 or more");
    std::vector<Dimension> dims;
    std::optional<std::int64_t> reach = itemsize;
    bool nothing = false;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (extents[d] < 0)
            throw Error("a region has extents " + text::tuple(extents) + "; none may be negative");
        nothing = nothing || extents[d] == 0;
        if (extents[d] < 2 || strides[d] == 0) continue;
        if (strides[d] < -base::max_size) {
            reach = std::nullopt;
            break;
        }
        dims.push_back({extents[d], std::abs(strides[d])});
        const auto far = base::product(extents[d] - 1, dims.back().stride);
        reach = far && reach ? base::sum(*reach, *far) : std::nullopt;
        if (far && strides[d] < 0) start_ -= static_cast<std::uintptr_t>(*far);
    }
    if (nothing) {
        bytes_ = 0;
        end_ = start_;
        return;
    }
    if (!reach)
        throw Error("a region with extents " + text::tuple(extents) + " and strides " +
                    text::tuple(strides) + " reaches beyond 63 bits");
    end_ = start_ + static_cast<std::uintptr_t>(*reach);
    std::sort(dims.begin(), dims.end(), [](const Dimension& a, const Dimension& b) {
        return a.stride != b.stride ? a.stride > b.stride : a.extent > b.extent;
    });
    // Joins dimensions without gaps to one run, or to one dimension.
    while (!dims.empty() && dims.back().stride == bytes_) {
        bytes_ *= dims.back().extent;
        dims.pop_back();
    }
    for (std::size_t d = dims.size(); d-- > 1;) {
        if (dims[d - 1].stride != dims[d].extent * dims[d].stride) continue;
        dims[d - 1] = {dims[d - 1].extent * dims[d].extent, dims[d].stride};
        dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d));
    }
    count_ = dims.size();
    if (count_ <= first_.size()) {
        std::copy(dims.begin(), dims.end(), first_.begin());
    } else {
        auto more = std::make_shared<More>();
        more->dimensions = std::move(dims);
        more_ = std::move(more);
    }
}

Region Region::key(std::string_view name, bool quoted) {
    Region region;
    auto more = std::make_shared<More>();
    more->is_key = true;
    more->name = name;
    more->quoted = quoted;
    region.more_ = std::move(more);
    return region;
}

std::span<const Dimension> Region::dimensions() const {
    if (count_ > first_.size()) return more_->dimensions;
    return {first_.data(), count_};
}

std::int64_t Region::size() const {
    std::int64_t bytes = bytes_;
    for (const auto& [extent, stride] : dimensions()) bytes *= extent;
    return bytes;
}

bool Region::overlaps(const Region& other) const {
    if (is_key() || other.is_key()) return *this == other;
    if (empty() || other.empty() || start_ >= other.end_ || other.start_ >= end_) return false;
    if (count_ == 0 && other.count_ == 0) return true;
    if (count_ == 1 && other.count_ == 1 && first_[0].stride == other.first_[0].stride)
        return rows_meet(static_cast<std::int64_t>(other.start_ - start_), bytes_, other.bytes_,
                         first_[0].stride, first_[0].extent, other.first_[0].extent);
    // One run and one box: the run is a box of the same stride with one row.
    if (count_ + other.count_ == 1) {
        const Dimension& rows = count_ == 1 ? first_[0] : other.first_[0];
        return rows_meet(static_cast<std::int64_t>(other.start_ - start_), bytes_, other.bytes_,
                         rows.stride, count_ == 1 ? rows.extent : 1, count_ == 1 ? 1 : rows.extent);
    }
    std::vector<std::int64_t> lists[4];
    for (const auto& [extent, stride] : dimensions())
        lists[0].push_back(extent), lists[1].push_back(stride);
    for (const auto& [extent, stride] : other.dimensions())
        lists[2].push_back(extent), lists[3].push_back(stride);
    return base::share_bytes(
        {static_cast<std::intptr_t>(start_), lists[0], lists[1], bytes_},
        {static_cast<std::intptr_t>(other.start_), lists[2], lists[3], other.bytes_});
}

bool operator==(const Region& a, const Region& b) {
    if (a.is_key() || b.is_key()) return a.is_key() && b.is_key() && a.more_->name == b.more_->name;
    const auto mine = a.dimensions(), others = b.dimensions();
    return a.start_ == b.start_ && a.bytes_ == b.bytes_ &&
           std::equal(mine.begin(), mine.end(), others.begin(), others.end());
}

std::size_t Region::hash() const {
    if (is_key()) return std::hash<std::string>()(more_->name);
    std::uint64_t out = mixed(start_, static_cast<std::uint64_t>(bytes_));
    for (const auto& [extent, stride] : dimensions())
        out = mixed(out, static_cast<std::uint64_t>(extent * 31 + stride));
    return out;
}

std::string Region::text() const {
    if (is_key()) return more_->quoted ? "'" + more_->name + "'" : more_->name;
    std::string out = std::to_string(bytes_) + " bytes";
    for (const auto& [extent, stride] : dimensions())
        out += ", " + std::to_string(extent) + " times " + std::to_string(stride) + " apart";
    char address[32];
    std::snprintf(address, sizeof address, "%#zx", static_cast<std::size_t>(start_));
    return out + " at " + address;
}

std::uint64_t Region::digest() const {
    if (is_key() || empty()) return 0;
    std::uint64_t out = 0;
    each_run(
        [&](const void* run) { out = digest_of(static_cast<const std::byte*>(run), bytes_, out); });
    return out;
}

std::vector<Region> border(const void* data, std::span<const std::int64_t> extents,
                           std::span<const std::int64_t> strides, std::int64_t itemsize,
                           std::span<const std::int64_t> width) {
    if (width.size() != extents.size())
        throw Error("a border has widths " + text::tuple(width) + " for extents " +
                    text::tuple(extents) + "; give one width a dimension");
    std::vector<Region> sides;
    std::vector<std::int64_t> rest(extents.begin(), extents.end());
    const auto* first = static_cast<const std::byte*>(data);
    // Along later dimensions, only the part between the borders of earlier ones.
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (width[d] == 0 || extents[d] == 0) continue;
        const std::int64_t inside = extents[d] - 2 * width[d];
        rest[d] = width[d];
        sides.emplace_back(first, rest, strides, itemsize);
        sides.emplace_back(first + (width[d] + inside) * strides[d], rest, strides, itemsize);
        rest[d] = inside;
        first += width[d] * strides[d];
    }
    return sides;
}

Access reduces(Region region, std::shared_ptr<const Reduction> reduction) {
    if (region.is_key())
        throw Error("a step cannot reduce into the key " + region.text() +
                    ", which has no elements; name the memory");
    std::vector<std::int64_t> extents, strides;
    for (const auto& [extent, stride] : region.dimensions())
        extents.push_back(extent), strides.push_back(stride);
    if (base::overlaps_itself({0, extents, strides, region.run()}))
        throw Error("a step cannot reduce into " + region.text() +
                    ", whose elements overlap; give memory whose elements lie apart");
    if (reduction == nullptr || !reduction->fill || !reduction->combine)
        throw Error("a reduction needs functions that fill a part and combine it");
    return {Access::Kind::reduce, std::move(region), std::move(reduction)};
}

}  // namespace hocket
