// SPDX-License-Identifier: BSD-3-Clause
#include "port/listener.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <span>

#include "base/platform.hpp"
#include "net/dial.hpp"
#include "net/observer_messages.hpp"

namespace hocket::port {
namespace {

constexpr std::size_t most_arrivals = 256;
constexpr double hello_timeout = 5;  // seconds until a client has said hello
constexpr std::byte tls_begins{0x16};

}  // namespace

Listener::Listener(Options options)
    : options_(std::move(options)),
      process_(::getpid()),
      instance_(net::new_instance()),
      big_endian_(net::states_big_endian()) {
    if (options_.address) tcp_ = net::listen_tcp(*options_.address);
    ::unlink(options_.socket.c_str());
    unix_ = net::listen_unix(options_.socket);
}

Listener::~Listener() {
    if (process_ == ::getpid()) ::unlink(options_.socket.c_str());
}

void Listener::accept_all() {
    for (const bool local : {true, false}) {
        const net::Descriptor& listener = local ? unix_ : tcp_;
        while (listener) {
            net::Descriptor made = net::accept_from(listener);
            if (!made) break;
            if (local && !net::is_our_user(made)) continue;
            if (!local) net::prepare_tcp(made);
            // The one that has waited longest makes room: a flood keeps nobody out for long.
            if (arrivals_.size() >= most_arrivals) arrivals_.pop_front();
            arrivals_.push_back(
                {nullptr, std::move(made), local, platform::seconds() + hello_timeout});
        }
    }
}

// A connection for another process of this node goes there; one that another process hands on comes
// out of its Unix socket. False while its first bytes are missing.
bool Listener::redirect(Arrival& arrival) const {
    std::array<std::byte, net::route_bytes> bytes{};
    const auto got = ::recv(arrival.raw.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    if (got == 0) throw net::Disconnected("it left");
    if (got < 0) return false;
    if (arrival.local) {
        if (bytes[0] != net::descriptor_follows) return true;
        net::Descriptor passed = net::receive_descriptor(arrival.raw);
        if (!passed) return false;
        arrival.raw = std::move(passed);
        arrival.local = false;
        return false;
    }
    const auto routed = net::is_route(std::span(bytes).first(static_cast<std::size_t>(got)));
    if (!routed) return false;
    if (!*routed) return true;
    static_cast<void>(::recv(arrival.raw.get(), bytes.data(), bytes.size(), MSG_DONTWAIT));
    const net::Route route = net::parse_route(bytes);
    const auto found = forwarded_.find(route.session);
    if (found == forwarded_.end() || route.process >= found->second.size() ||
        found->second[route.process].empty())
        throw net::Disconnected("it asks for no process of this node");
    net::pass_descriptor(found->second[route.process], arrival.raw);
    throw net::Disconnected("it was handed on");
}

// Its first byte says whether it speaks TLS.
void Listener::begin(Arrival& arrival) const {
    if (!redirect(arrival)) return;
    std::byte first{};
    if (::recv(arrival.raw.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1) return;
    auto stream = first == tls_begins && options_.key
                      ? net::tls_server(std::move(arrival.raw), options_.key)
                      : net::plain_stream(std::move(arrival.raw));
    const bool encrypted = first == tls_begins;
    arrival.connection =
        std::make_unique<net::Connection>(std::move(stream), net::longest_from_observer);
    if (encrypted && !options_.key)
        throw Error("this port has no key, so that its clients need none");
    if (!encrypted && !arrival.local && options_.secure)
        throw Error("this port is encrypted; give the path of its key file (key=)");
}

std::unique_ptr<Client> Listener::advance(Arrival& arrival) const {
    if (!arrival.connection) begin(arrival);
    if (!arrival.connection) return nullptr;
    net::Connection& connection = *arrival.connection;
    if (!connection.stream().open()) return nullptr;
    const auto parsed = [&] {
        auto found = net::parse_hello(connection.arrived());
        while (!found && connection.fill()) found = net::parse_hello(connection.arrived());
        return found;
    }();
    if (!parsed) return nullptr;
    connection.drop(parsed->bytes);
    const net::Hello& hello = parsed->hello;
    if (hello.instance == instance_) throw Error("this port does not connect to itself");
    // Without a key: our own user by the Unix socket, or everybody where both sides say so.
    const net::Right right = connection.stream().right().value_or(net::Right::join);
    if (hello.role != net::Role::observer && right != net::Right::join)
        throw Error("this key lets nobody join; it is for observers");
    return std::make_unique<Client>(
        Client{std::move(arrival.connection), hello, right, arrival.local});
}

std::unique_ptr<Client> Listener::next() {
    accept_all();
    for (auto it = arrivals_.begin(); it != arrivals_.end();) {
        try {
            if (auto client = advance(*it)) {
                arrivals_.erase(it);
                return client;
            }
            if (platform::seconds() < it->until) {
                ++it;
                continue;
            }
        } catch (const net::Disconnected&) {
            it = arrivals_.erase(it);
            continue;
        } catch (const Error& error) {
            if (it->connection) refuse(*it->connection, error.what());
        }
        it = arrivals_.erase(it);
    }
    return nullptr;
}

void Listener::welcome(Client& client, const std::string& rest) const {
    net::Welcome welcome_message;
    welcome_message.right = client.right;
    welcome_message.big_endian = big_endian_;
    welcome_message.instance = instance_;
    welcome_message.rest = rest;
    client.connection->send(static_cast<std::uint8_t>(net::MessageKind::welcome),
                            net::bytes_of(welcome_message));
}

void Listener::refuse(net::Connection& connection, const std::string& why) {
    net::Writer writer;
    writer.text(why);
    try {
        connection.send(static_cast<std::uint8_t>(net::MessageKind::refused), writer.bytes());
        connection.flush();
    } catch (const Error&) {
        return;  // it is gone already
    }
}

}  // namespace hocket::port
