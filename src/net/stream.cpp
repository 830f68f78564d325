// SPDX-License-Identifier: BSD-3-Clause
#include "net/stream.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace hocket::net {
namespace {

class Plain final : public Stream {
  public:
    explicit Plain(Descriptor descriptor) : Stream(std::move(descriptor)) {}
    std::size_t read(std::span<std::byte> into) override { return receive(into); }
    std::size_t write(std::span<const std::byte> bytes) override { return send(bytes); }
};

bool later(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

std::size_t Stream::receive(std::span<std::byte> into) const {
    const auto got = ::recv(descriptor_.get(), into.data(), into.size(), 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0 && !into.empty()) throw Disconnected("the other side has closed the connection");
    if (got < 0 && !later(errno))
        throw Disconnected(std::string("the connection is gone: ") + std::strerror(errno));
    return 0;
}

void Stream::require_answers() const {
    if (is_unanswered(descriptor_))
        throw Disconnected("its host, or the line to it, does not answer any more");
}

std::size_t Stream::send(std::span<const std::byte> bytes) const {
    const auto sent = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (!later(errno))
        throw Disconnected(std::string("the connection is gone: ") + std::strerror(errno));
    return 0;
}

std::unique_ptr<Stream> plain_stream(Descriptor descriptor) {
    return std::make_unique<Plain>(std::move(descriptor));
}

}  // namespace hocket::net
