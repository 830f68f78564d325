// SPDX-License-Identifier: BSD-3-Clause
// Packs numbers and texts into a message, whose bytes any machine reads. Small numbers take a byte,
// because the descriptors of many messages may weigh more than their data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_order.hpp"
#include "hocket/error.hpp"

namespace hocket {

namespace base {

/// The most bytes of a number.
inline constexpr std::size_t longest_number = 10;

/// Seven bits a byte. The lowest bit is the sign, so that small negative numbers are short, too.
inline void append_number(std::string& bytes, std::int64_t value) {
    std::uint64_t left = static_cast<std::uint64_t>(value) << 1U;
    if (value < 0) left = ~left;
    for (; left >= 128; left >>= 7U) bytes.push_back(static_cast<char>(left | 128U));
    bytes.push_back(static_cast<char>(left));
}

/// The number at the front, which it removes; nullopt if the bytes end within it, or if it has more
/// than 64 bits.
inline std::optional<std::int64_t> take_number(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < std::min(bytes.size(), longest_number); ++k) {
        const auto next = static_cast<std::uint8_t>(bytes[k]);
        if (k + 1 == longest_number && next > 1) return std::nullopt;
        value |= std::uint64_t{next & 127U} << (7 * k);
        if (next >= 128) continue;
        bytes.remove_prefix(k + 1);
        const std::uint64_t half = value >> 1U;
        return static_cast<std::int64_t>((value & 1U) != 0 ? ~half : half);
    }
    return std::nullopt;
}

}  // namespace base

class Packer {
  public:
    /// `room`: the approximate number of bytes.
    explicit Packer(std::size_t room = 0) { bytes_.reserve(room); }
    Packer& number(std::int64_t value) {
        base::append_number(bytes_, value);
        return *this;
    }
    /// Any 64 bits, in eight bytes.
    Packer& word(std::uint64_t value) {
        value = base::little_endian(value);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Packer& text(std::string_view value) {
        number(static_cast<std::int64_t>(value.size()));
        bytes_.append(value);
        return *this;
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
    bool empty() const { return bytes_.empty(); }
    std::int64_t number() {
        const auto value = base::take_number(bytes_);
        if (!value) fail();
        return *value;
    }
    std::uint64_t word() {
        std::uint64_t value = 0;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return base::little_endian(value);
    }
    std::string text() { return std::string(view()); }
    /// A text within the bytes that this unpacker reads.
    std::string_view view() { return take(static_cast<std::size_t>(number())); }

  private:
    [[noreturn]] static void fail() {
        throw Error(
            "a message of hocket's own is cut short; do all processes run the same version of "
            "hocket?");
    }
    std::string_view take(std::size_t size) {
        if (size > bytes_.size()) fail();
        const auto head = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return head;
    }
    std::string_view bytes_;
};

}  // namespace hocket
