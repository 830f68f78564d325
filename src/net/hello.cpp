// SPDX-License-Identifier: BSD-3-Clause
#include "net/hello.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>

#include "base/environment.hpp"

namespace hocket::net {
namespace {

constexpr std::array<char, 4> letters{'H', 'K', 'T', '1'};
constexpr std::size_t hello_header = 8;

Instance read_instance(Reader& reader) {
    Instance instance{};
    const auto bytes = reader.raw(instance.size());
    std::copy(bytes.begin(), bytes.end(), instance.begin());
    return instance;
}

Hello read_values(Reader& reader) {
    const std::uint32_t version = reader.u32();
    if (version != protocol_version)
        throw Error("the other side speaks version " + std::to_string(version) +
                    " of the protocol of ports, and this one version " +
                    std::to_string(protocol_version) + "; use the same hocket on both sides");
    Hello hello;
    const std::uint8_t role = reader.u8();
    if (role < 1 || role > 3) throw Error("a hello names role " + std::to_string(role));
    hello.role = static_cast<Role>(role);
    const std::uint8_t order = reader.u8();
    if (order > 1) throw Error("a hello names byte order " + std::to_string(order));
    hello.big_endian = order == 1;
    hello.instance = read_instance(reader);
    hello.port = reader.text(longest_name);
    hello.task = reader.text(longest_name);
    hello.processes = reader.i64();
    hello.process = reader.i64();
    hello.session = read_instance(reader);
    hello.reconnect = reader.f64();
    if (!(hello.reconnect >= 0)) throw Error("a hello names a time below 0");
    hello.reconnect = std::min(hello.reconnect, longest_reconnect);
    reader.end();
    if (!hello.port.empty() && !is_name(hello.port)) throw Error("a hello names no port");
    if (hello.role == Role::connector && !is_name(hello.task))
        throw Error("a hello of a connector names no task");
    if (hello.processes < 1 || hello.processes > most_processes || hello.process < 0 ||
        hello.process >= hello.processes)
        throw Error("a hello names process " + std::to_string(hello.process) + " of " +
                    std::to_string(hello.processes));
    return hello;
}

}  // namespace

bool states_big_endian() {
    const auto named = environment::value_of("HOCKET_BYTE_ORDER");
    if (named && *named != "big" && *named != "little")
        throw Error("HOCKET_BYTE_ORDER is '" + *named + "'; set it to big or little, or unset it");
    return named ? *named == "big" : std::endian::native == std::endian::big;
}

namespace {
const environment::JobSetting stated_order("HOCKET_BYTE_ORDER", [] {
    return std::string(states_big_endian() ? "big" : "little");
});
}  // namespace

Instance new_instance() {
    Instance instance{};
    if (::getrandom(instance.data(), instance.size(), 0) != static_cast<ssize_t>(instance.size()))
        throw Error("the system gives no random numbers");
    return instance;
}

Bytes bytes_of(const Hello& hello) {
    Writer values;
    values.u32(protocol_version)
        .u8(static_cast<std::uint8_t>(hello.role))
        .u8(states_big_endian() ? 1 : 0)
        .raw(hello.instance)
        .text(hello.port)
        .text(hello.task)
        .i64(hello.processes)
        .i64(hello.process)
        .raw(hello.session)
        .f64(hello.reconnect);
    Writer all;
    all.raw(std::as_bytes(std::span(letters)))
        .u32(static_cast<std::uint32_t>(values.bytes().size()))
        .raw(values.bytes());
    return {all.bytes().begin(), all.bytes().end()};
}

std::optional<ParsedHello> parse_hello(std::span<const std::byte> bytes) {
    const auto begun =
        std::as_bytes(std::span(letters)).first(std::min(bytes.size(), letters.size()));
    if (!std::equal(begun.begin(), begun.end(), bytes.begin()))
        throw Error("the other side does not speak the protocol of ports");
    if (bytes.size() < hello_header) return std::nullopt;
    Reader reader(bytes.subspan(letters.size()));
    const std::size_t length = reader.length(longest_hello);
    if (bytes.size() < hello_header + length) return std::nullopt;
    Reader values(bytes.subspan(hello_header, length));
    return ParsedHello{read_values(values), hello_header + length};
}

bool is_name(std::string_view text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    };
    return !text.empty() && text.size() <= longest_name && text[0] != '.' &&
           std::all_of(text.begin(), text.end(), fits);
}

}  // namespace hocket::net
