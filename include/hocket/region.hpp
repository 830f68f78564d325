// SPDX-License-Identifier: BSD-3-Clause
// Regions and accesses: the memory that a step of a flow touches, and how.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "hocket/error.hpp"

namespace hocket {

/// An array-like type: elements of `dtype().size` bytes at data(), strides() bytes apart.
template <class A>
concept StridedArray = requires(const A& array) {
    { array.data() } -> std::convertible_to<const void*>;
    { array.strides() } -> std::convertible_to<std::span<const std::int64_t>>;
    { array.local_shape() } -> std::convertible_to<std::span<const std::int64_t>>;
    { array.dtype().size } -> std::convertible_to<std::int64_t>;
};

/// Bytes of memory (a run, or a strided box), or a key: a name that stands for anything else. Two
/// boxes conflict if they share a byte. The test is exact for boxes of one array, and for nearly
/// all others. If it would take long, boxes within the same range count as conflicting.
class Region {
  public:
    /// `bytes` bytes from `data` on. @throws Error for a negative number.
    Region(const void* data, std::int64_t bytes);
    /// Elements of `itemsize` bytes at data + sum(index[d] * strides[d]), 0 <= index[d] <
    /// extents[d]; strides in bytes, of any sign. @throws Error for lists of different lengths, a
    /// negative extent, an item of no bytes, and a box beyond 63 bits.
    Region(const void* data, std::span<const std::int64_t> extents,
           std::span<const std::int64_t> strides, std::int64_t itemsize);
    /// The memory of a variable or a list. Implicit, because accesses take both.
    template <class T, std::size_t extent>
    Region(std::span<T, extent> memory)  // NOLINT(google-explicit-constructor)
        : Region(memory.data(), static_cast<std::int64_t>(memory.size_bytes())) {}
    template <StridedArray A>
    Region(const A& array)  // NOLINT(google-explicit-constructor)
        : Region(array.data(), array.local_shape(), array.strides(), array.dtype().size) {}
    /// A key. Two keys with one name are one region; no memory overlaps a key. `quoted`: messages
    /// show the name in quotation marks; otherwise as it is.
    static Region key(std::string_view name, bool quoted = true);

    bool is_key() const { return more_ != nullptr && more_->is_key; }
    bool empty() const { return bytes_ == 0 && !is_key(); }
    std::uintptr_t begin() const { return start_; }  ///< address of the first byte
    std::uintptr_t end() const { return end_; }      ///< address behind the last byte
    bool overlaps(const Region& other) const;
    friend bool operator==(const Region& a, const Region& b);
    std::size_t hash() const;
    std::string text() const;
    /// A hash of the region's contents: different contents hardly ever have the same hash. 0 for
    /// keys.
    std::uint64_t digest() const;

    struct Dimension {
        std::int64_t extent, stride;  // > 1 each
        friend bool operator==(const Dimension&, const Dimension&) = default;
    };
    std::span<const Dimension> dimensions() const;  ///< descending strides
    std::int64_t run() const { return bytes_; }     ///< contiguous bytes at each place
    std::int64_t size() const;                      ///< bytes of all runs; 0 for a key
    /// Calls `visit` with the address of each run. The dimension with the smallest stride varies
    /// fastest.
    template <class Visit>
    void each_run(Visit&& visit) const {
        if (bytes_ == 0) return;
        const auto dims = dimensions();
        std::vector<std::int64_t> index(dims.size(), 0);
        std::uintptr_t at = start_;
        for (;;) {
            visit(reinterpret_cast<void*>(at));
            std::size_t d = dims.size();
            for (;; --d) {
                if (d == 0) return;
                at += static_cast<std::uintptr_t>(dims[d - 1].stride);
                if (++index[d - 1] < dims[d - 1].extent) break;
                at -= static_cast<std::uintptr_t>(dims[d - 1].extent * dims[d - 1].stride);
                index[d - 1] = 0;
            }
        }
    }

  private:
    Region() = default;
    struct More {
        bool is_key = false, quoted = true;
        std::string name;
        std::vector<Dimension> dimensions;
    };
    std::uintptr_t start_ = 0, end_ = 0;
    std::int64_t bytes_ = 0;
    std::size_t count_ = 0;
    std::array<Dimension, 2> first_{};  // used if there are at most two
    std::shared_ptr<const More> more_;
};

/// The border of memory with these extents and strides (bytes), `width[d]` items wide on both sides
/// of dimension d, as disjoint boxes. @throws Error as Region does, and for lists of different
/// lengths.
std::vector<Region> border(const void* data, std::span<const std::int64_t> extents,
                           std::span<const std::int64_t> strides, std::int64_t itemsize,
                           std::span<const std::int64_t> width);

/// A reduction of steps into one region: how to combine their private buffers. A buffer is
/// contiguous: the runs of the region one after the other, in the order of Region::each_run.
struct Reduction {
    std::string name;  ///< steps with a reduction of the same name run concurrently
    std::function<void(void* part, std::int64_t bytes)> fill;
    std::function<void(const Region& into, const void* part)> combine;
};

struct Access {
    enum class Kind : std::uint8_t { read, write, update, commute, reduce };
    Kind kind;
    Region region;
    std::shared_ptr<const Reduction> reduction = {};
};

inline Access reads(Region region) {
    return {Access::Kind::read, std::move(region)};
}
inline Access writes(Region region) {
    return {Access::Kind::write, std::move(region)};
}
/// Reads and writes.
inline Access updates(Region region) {
    return {Access::Kind::update, std::move(region)};
}
/// Updates the region one step at a time, in any order with other steps that commute on it.
inline Access commutes(Region region) {
    return {Access::Kind::commute, std::move(region)};
}
/// Updates the region concurrently with other steps that reduce into it. Each step has a private
/// buffer (flow::Here::part), which hocket combines with the region when the step ends, in any
/// order.
/// @throws Error for a key, and for a region whose elements overlap.
Access reduces(Region region, std::shared_ptr<const Reduction> reduction);

/// Reduces into elements of type T, with a binary operation (std::plus<>) and its identity.
template <class T, class Combine>
Access reduces(const Region& region, Combine combine, T identity) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (region.run() % size != 0)
        throw Error("a step cannot reduce elements of " + std::to_string(size) + " bytes into " +
                    region.text() + "; give memory that holds them one after the other");
    const std::int64_t run = region.run() / size;
    return reduces(region, std::make_shared<const Reduction>(Reduction{
                               std::string(typeid(Combine).name()) + typeid(T).name(),
                               [identity](void* part, std::int64_t bytes) {
                                   std::fill_n(static_cast<T*>(part), bytes / size, identity);
                               },
                               [run, combine](const Region& into, const void* part) {
                                   const T* from = static_cast<const T*>(part);
                                   into.each_run([&](void* at) {
                                       T* to = static_cast<T*>(at);
                                       for (std::int64_t i = 0; i < run; ++i, ++from)
                                           to[i] = combine(to[i], *from);
                                   });
                               }}));
}
template <class T, class Combine>
Access reduces(std::span<T> memory, Combine combine, T identity) {
    return reduces(Region(memory), combine, identity);
}

}  // namespace hocket
