// SPDX-License-Identifier: BSD-3-Clause
// Keys: a file of at least 32 bytes that both sides have. For each right a key of its own is
// derived from it (HKDF, RFC 5869), as RFC 9257 asks of external pre-shared keys, so that one of
// them can be given away without the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/secret.hpp"

namespace hocket::net {

/// A right includes those before it.
enum class Right : std::uint8_t { read = 1, steer = 2, join = 3 };
std::string_view name_of(Right right);
/// @throws Error for another word than "read", "steer" and "join".
Right right_of(std::string_view name);

class Key {
  public:
    /// @throws Error for a file that is not there, belongs to someone else, may be read by others,
    /// or is too short.
    static Key read(const std::string& path);
    /// Writes a file of random bytes that only this user may read. @throws Error if it is there.
    static void make(const std::string& path);

    /// The secret of that right; null where the file has only a lower one, or another.
    const Secret* secret(Right right) const;
    /// The right to show where `wanted` is wanted: that, or the next lower one, or the next higher.
    Right suited(Right wanted) const;
    /// Writes the key of that right alone. @throws Error
    void give(Right right, const std::string& path) const;

  private:
    std::array<std::optional<Secret>, 4> secrets_;  // by right
};

/// @throws Error where this build has no OpenSSL; its message names the remedy.
void require_tls();

}  // namespace hocket::net
