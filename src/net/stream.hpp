// SPDX-License-Identifier: BSD-3-Clause
// Bytes to and from another process, encrypted or not. Nothing here blocks.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hocket/error.hpp"
#include "net/descriptor.hpp"
#include "net/key.hpp"

namespace hocket::net {

/// The other side has ended the connection, or is gone.
class Disconnected final : public JobLostError {
  public:
    using JobLostError::JobLostError;
};

class Stream {
  public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;

    /// True once bytes may go both ways; until then it is to be called again. @throws Error where
    /// the other side has no right to be there; Disconnected.
    virtual bool open() { return true; }
    /// The right of the key that the other side has shown; nothing where none was asked for.
    virtual std::optional<Right> right() const { return std::nullopt; }
    /// How many bytes were read; 0: none are there now. @throws Disconnected
    virtual std::size_t read(std::span<std::byte> into) = 0;
    /// How many of these were taken; 0: there is no room now. @throws Disconnected
    virtual std::size_t write(std::span<const std::byte> bytes) = 0;
    /// As `write`. With the first byte goes a descriptor of that file; the bytes alone where this
    /// stream cannot pass it, or the system refuses.
    virtual std::size_t write_with(std::span<const std::byte> bytes, int /*file*/) {
        return write(bytes);
    }
    /// The descriptor that came first with the bytes read so far; none.
    virtual Descriptor passed() { return {}; }
    /// True once all that was taken is in the system's hands.
    virtual bool flush() { return true; }
    /// @throws Disconnected where the other host, or the line to it, does not answer any more.
    void require_answers() const;

    const Descriptor& descriptor() const { return descriptor_; }

  protected:
    explicit Stream(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
    /// The system's own read and write. @throws Disconnected
    std::size_t receive(std::span<std::byte> into, std::deque<Descriptor>* passed = nullptr) const;
    std::size_t send(std::span<const std::byte> bytes, int file = -1) const;

  private:
    Descriptor descriptor_;
};

/// Unencrypted: on one host to a process of our user, or where both sides say so. The system closes
/// descriptors that come, unless this side takes them.
std::unique_ptr<Stream> plain_stream(Descriptor descriptor, bool takes_descriptors = false);
/// TLS 1.3 with a pre-shared key and ephemeral Diffie-Hellman. The server takes every right that
/// its key has; the client shows one of them, and takes no server that did not use it.
std::unique_ptr<Stream> tls_server(Descriptor descriptor, std::shared_ptr<const Key> key);
std::unique_ptr<Stream> tls_client(Descriptor descriptor, std::shared_ptr<const Key> key,
                                   Right right);

}  // namespace hocket::net
