// SPDX-License-Identifier: BSD-3-Clause
#include "net/forwarding.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptors.hpp"
#include "net/stream.hpp"

namespace hocket::net {
namespace {

constexpr std::array<char, 4> route_letters{'H', 'K', 'R', '1'};
constexpr double longest_pass = 1;  // seconds

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
    if (base::send_descriptor(to.get(), std::span(&descriptor_follows, 1), passed.get()) != 1)
        throw Error(std::string("cannot hand a connection on: ") + std::strerror(errno));
}

Descriptor receive_descriptor(const Descriptor& from) {
    std::byte first{};
    int number = -1;
    const auto got = base::receive_descriptor(from.get(), std::span(&first, 1), number);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (number < 0) throw Disconnected("no connection was handed on");
    return Descriptor(number);
}

}  // namespace hocket::net
