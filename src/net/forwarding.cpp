// SPDX-License-Identifier: BSD-3-Clause
#include "net/forwarding.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "net/stream.hpp"

namespace hocket::net {
namespace {

constexpr std::array<char, 4> route_letters{'H', 'K', 'R', '1'};
constexpr double longest_pass = 1;  // seconds

// A message of one byte, with room for one descriptor.
struct PassedMessage {
    std::byte first = descriptor_follows;
    iovec part{&first, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
    msghdr header{};

    PassedMessage() {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = room.data();
        header.msg_controllen = room.size();
    }
    PassedMessage(const PassedMessage&) = delete;
    PassedMessage& operator=(const PassedMessage&) = delete;
};

}  // namespace

Bytes bytes_of(const Route& route) {
    Writer writer;
    writer.raw(std::as_bytes(std::span(route_letters))).raw(route.session).u32(route.process);
    return {writer.bytes().begin(), writer.bytes().end()};
}

std::optional<bool> is_route(std::span<const std::byte> bytes) {
    const auto all = std::as_bytes(std::span(route_letters));
    const std::size_t count = std::min(bytes.size(), all.size());
    if (!std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), bytes.begin()))
        return false;
    if (bytes.size() < route_bytes) return std::nullopt;
    return true;
}

Route parse_route(std::span<const std::byte> bytes) {
    Reader reader(bytes);
    static_cast<void>(reader.raw(route_letters.size()));
    Route route;
    const auto session = reader.raw(route.session.size());
    std::copy(session.begin(), session.end(), route.session.begin());
    route.process = reader.u32();
    return route;
}

void pass_descriptor(const std::string& path, const Descriptor& passed) {
    const Descriptor to = dial_unix(path, longest_pass);
    if (!is_our_user(to)) throw Error("'" + path + "' belongs to another user");
    PassedMessage message;
    cmsghdr* const item = CMSG_FIRSTHDR(&message.header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = passed.get();
    std::memcpy(CMSG_DATA(item), &number, sizeof number);
    if (::sendmsg(to.get(), &message.header, MSG_NOSIGNAL) != 1)
        throw Error(std::string("cannot hand a connection on: ") + std::strerror(errno));
}

Descriptor receive_descriptor(const Descriptor& from) {
    PassedMessage message;
    const auto got = ::recvmsg(from.get(), &message.header, MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    const cmsghdr* const item = CMSG_FIRSTHDR(&message.header);
    if (got <= 0 || item == nullptr || item->cmsg_type != SCM_RIGHTS)
        throw Disconnected("no connection was handed on");
    int number = -1;
    std::memcpy(&number, CMSG_DATA(item), sizeof number);
    return Descriptor(number);
}

}  // namespace hocket::net
