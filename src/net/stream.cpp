// SPDX-License-Identifier: BSD-3-Clause
#include "net/stream.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/descriptors.hpp"

namespace hocket::net {
namespace {

// Each belongs to a message whose bytes have come, or are just coming.
constexpr std::size_t most_passed = 4;

class Plain final : public Stream {
  public:
    Plain(Descriptor descriptor, bool takes) : Stream(std::move(descriptor)), takes_(takes) {}
    std::size_t read(std::span<std::byte> into) override {
        return receive(into, takes_ ? &passed_ : nullptr);
    }
    std::size_t write(std::span<const std::byte> bytes) override { return send(bytes); }
    std::size_t write_with(std::span<const std::byte> bytes, int file) override {
        return send(bytes, file);
    }
    Descriptor passed() override {
        if (passed_.empty()) return {};
        Descriptor first = std::move(passed_.front());
        passed_.pop_front();
        return first;
    }

  private:
    bool takes_;
    std::deque<Descriptor> passed_;
};

bool later(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

[[noreturn]] void fail_gone() {
    throw Disconnected(std::string("the connection is gone: ") + std::strerror(errno));
}

}  // namespace

std::size_t Stream::receive(std::span<std::byte> into, std::deque<Descriptor>* passed) const {
    int file = -1;
    const auto got = passed != nullptr ? base::receive_descriptor(descriptor_.get(), into, file)
                                       : ::recv(descriptor_.get(), into.data(), into.size(), 0);
    if (file >= 0) passed->emplace_back(file);
    if (passed != nullptr && passed->size() > most_passed)
        throw Error("the other side passes more descriptors than its messages name");
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0 && !into.empty()) throw Disconnected("the other side has closed the connection");
    if (got < 0 && !later(errno)) fail_gone();
    return 0;
}

void Stream::require_answers() const {
    if (is_unanswered(descriptor_))
        throw Disconnected("its host, or the line to it, does not answer any more");
}

std::size_t Stream::send(std::span<const std::byte> bytes, int file) const {
    auto sent = base::send_descriptor(descriptor_.get(), bytes, file);
    // Too many descriptors are on their way, or this is no Unix socket.
    if (sent < 0 && file >= 0 && !later(errno))
        sent = base::send_descriptor(descriptor_.get(), bytes, -1);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (!later(errno)) fail_gone();
    return 0;
}

std::unique_ptr<Stream> plain_stream(Descriptor descriptor, bool takes_descriptors) {
    return std::make_unique<Plain>(std::move(descriptor), takes_descriptors);
}

}  // namespace hocket::net
