// SPDX-License-Identifier: BSD-3-Clause
// The first message on a connection to a port, and the answer. Whoever connects may send anything,
// so the parser takes bytes, allocates no more than a few kilobytes, and is fuzzed alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/bytes.hpp"

namespace hocket::net {

/// The version of the protocol; both sides must have the same one. It counts changes of all that
/// two jobs exchange: messages, envelopes, and the shared memory of a host. With an unequal version
/// they would read wrong elements.
inline constexpr std::uint32_t protocol_version = 8;
inline constexpr std::size_t longest_hello = 4096, longest_name = 64;
inline constexpr std::int64_t most_processes = std::int64_t{1} << 20;  // of a job
inline constexpr double longest_reconnect = 30.0 * 24 * 3600;          // seconds

enum class Role : std::uint8_t {
    observer = 1,   // looks on and steers
    connector = 2,  // the job that connects, by its process 0
    process = 3,    // a process of a job that has connected, for its data
};

/// The byte order of this machine, or the one that HOCKET_BYTE_ORDER names in tests.
/// @throws Error
bool states_big_endian();

/// Chosen by each port and each client at its start: nobody may be its own peer.
using Instance = std::array<std::byte, 16>;
Instance new_instance();

struct Hello {
    Role role = Role::observer;
    bool big_endian = false;
    Instance instance{};
    std::string port;  // the port's name; "": not known to the client, which gave an address
    std::string task;  // of a connector: its task's name
    std::int64_t processes = 1, process = 0;  // of its job, and which one of them this is
    Instance session{};                       // of a process: the session of its connector
    double reconnect = 0;  // of a connector: so many seconds it tries to come back after a loss;
                           // a hello that has come: at most longest_reconnect
};

/// The bytes that are sent: four characters, a length, then the values.
Bytes bytes_of(const Hello& hello);
/// The hello at the front of these bytes and how many it takes; nothing while more must come.
/// @throws Error for what can be no hello, whatever follows.
struct ParsedHello {
    Hello hello;
    std::size_t bytes;
};
std::optional<ParsedHello> parse_hello(std::span<const std::byte> bytes);

/// A port's, a task's or an array's name: 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'; not first '.'.
bool is_name(std::string_view text);

}  // namespace hocket::net
