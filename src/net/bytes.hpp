// SPDX-License-Identifier: BSD-3-Clause
// Values as bytes on a line to another job: little-endian, of fixed width, with lengths before
// texts. A reader never looks beyond its bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/error.hpp"

namespace hocket::net {

using Bytes = std::vector<std::byte>;

class Writer {
  public:
    Writer& u8(std::uint8_t value) { return number(value, 1); }
    Writer& u32(std::uint32_t value) { return number(value, 4); }
    Writer& i64(std::int64_t value) { return number(static_cast<std::uint64_t>(value), 8); }
    Writer& f64(double value) { return number(std::bit_cast<std::uint64_t>(value), 8); }
    Writer& text(std::string_view value) {
        u32(static_cast<std::uint32_t>(value.size()));
        return raw(std::as_bytes(std::span(value)));
    }
    Writer& raw(std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
        return *this;
    }
    std::span<const std::byte> bytes() const { return bytes_; }
    std::string str() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }

  private:
    Writer& number(std::uint64_t value, int width) {
        for (int k = 0; k < width; ++k) bytes_.push_back(static_cast<std::byte>(value >> (8 * k)));
        return *this;
    }
    Bytes bytes_;
};

/// @throws Error where the bytes end too early, or a length is more than its limit.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
    explicit Reader(std::string_view bytes) : left_(std::as_bytes(std::span(bytes))) {}

    std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
    std::int64_t i64() { return static_cast<std::int64_t>(number(8)); }
    double f64() { return std::bit_cast<double>(number(8)); }
    std::string text(std::size_t limit) {
        const auto part = raw(length(limit));
        return {reinterpret_cast<const char*>(part.data()), part.size()};
    }
    /// A number of things that follow.
    std::size_t length(std::size_t limit) {
        const std::size_t count = u32();
        if (count > limit)
            throw Error("a message from another job has a length of " + std::to_string(count) +
                        ", and " + std::to_string(limit) + " is the most there");
        return count;
    }
    std::span<const std::byte> raw(std::size_t count) {
        if (count > left_.size())
            throw Error("a message from another job ends " + std::to_string(count - left_.size()) +
                        " bytes too early");
        const auto part = left_.first(count);
        left_ = left_.subspan(count);
        return part;
    }
    std::span<const std::byte> rest() { return raw(left_.size()); }
    void end() const {
        if (!left_.empty())
            throw Error("a message from another job has " + std::to_string(left_.size()) +
                        " bytes more than it should");
    }

  private:
    std::uint64_t number(std::size_t width) {
        std::uint64_t value = 0;
        std::size_t shift = 0;
        for (const std::byte byte : raw(width)) {
            value |= std::to_integer<std::uint64_t>(byte) << shift;
            shift += 8;
        }
        return value;
    }
    std::span<const std::byte> left_;
};

}  // namespace hocket::net
