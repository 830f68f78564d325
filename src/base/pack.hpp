// SPDX-License-Identifier: BSD-3-Clause
// Packs numbers and texts into a message, whose bytes any machine reads.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/byte_order.hpp"
#include "hocket/error.hpp"

namespace hocket {

class Packer {
  public:
    /// `room`: the approximate number of bytes.
    explicit Packer(std::size_t room = 0) { bytes_.reserve(room); }
    Packer& number(std::int64_t value) {
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
        std::int64_t value = 0;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return base::little_endian(value);
    }
    std::string text() { return std::string(view()); }
    /// A text within the bytes that this unpacker reads.
    std::string_view view() { return take(static_cast<std::size_t>(number())); }

  private:
    std::string_view take(std::size_t size) {
        if (size > bytes_.size())
            throw Error(
                "a message of hocket's own is cut short; do all processes run the same "
                "version of hocket?");
        const auto head = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return head;
    }
    std::string_view bytes_;
};

}  // namespace hocket
