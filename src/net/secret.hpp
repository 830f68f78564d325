// SPDX-License-Identifier: BSD-3-Clause
// Memory of keys: no core that the system writes has it, and it is overwritten as it ends.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace hocket::net {

/// Pages of their own.
class SecretMemory {
  public:
    /// @throws std::bad_alloc
    explicit SecretMemory(std::size_t bytes);
    SecretMemory(SecretMemory&& other) noexcept
        : bytes_(std::exchange(other.bytes_, {})), mapped_(std::exchange(other.mapped_, 0)) {}
    SecretMemory& operator=(SecretMemory&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(mapped_, other.mapped_);
        return *this;
    }
    ~SecretMemory();

    std::span<unsigned char> bytes() { return bytes_; }
    std::span<const unsigned char> bytes() const { return bytes_; }
    /// Only so many bytes are used.
    void shorten(std::size_t bytes) { bytes_ = bytes_.first(bytes); }

  private:
    std::span<unsigned char> bytes_;
    std::size_t mapped_;
};

/// A secret of one right.
class Secret : public SecretMemory {
  public:
    static constexpr std::size_t size = 48;
    Secret() : SecretMemory(size) {}
};

/// Excludes the pages that have these bytes of somebody else's from cores, for as long as they are
/// mapped. Their other contents are missing in a core, too.
void keep_out_of_cores(const void* first, std::size_t bytes);

}  // namespace hocket::net
