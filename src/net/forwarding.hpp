// SPDX-License-Identifier: BSD-3-Clause
// One TCP port serves all processes of a node: a client says first for which of them its connection
// is, and the process that listens hands the socket to that one (SCM_RIGHTS).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/descriptor.hpp"
#include "net/hello.hpp"

namespace hocket::net {

/// The first bytes of such a connection, before TLS. The session is known to those only whom the
/// port has let in; the process itself asks for the key.
struct Route {
    Instance session{};
    std::uint32_t process = 0;
};
inline constexpr std::size_t route_bytes = 24;
Bytes bytes_of(const Route& route);
/// Whether these bytes begin as a route does; nothing while more must come.
std::optional<bool> is_route(std::span<const std::byte> bytes);
/// Of `route_bytes` bytes.
Route parse_route(std::span<const std::byte> bytes);

/// Hands a connected socket to the process that listens at that Unix socket. @throws Error
void pass_descriptor(const std::string& path, const Descriptor& passed);
/// The first byte that such a process receives.
inline constexpr std::byte descriptor_follows{'F'};
/// The socket; none where nothing follows. @throws Disconnected
Descriptor receive_descriptor(const Descriptor& from);

}  // namespace hocket::net
