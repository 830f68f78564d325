// SPDX-License-Identifier: BSD-3-Clause
#include "port/door.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>

#include "base/platform.hpp"
#include "net/dial.hpp"
#include "net/observing.hpp"

namespace hocket::port {
namespace {

constexpr std::size_t most_arrivals = 64;
constexpr double patience = 5;  // seconds until a client has said hello
constexpr std::byte tls_begins{0x16};

// By which other hosts may know this one.
std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    addrinfo* found = nullptr;
    if (name[0] == '\0' || ::getaddrinfo(name.data(), nullptr, nullptr, &found) != 0)
        return "127.0.0.1";
    ::freeaddrinfo(found);
    return name.data();
}

}  // namespace

Door::Door(const DoorOptions& options) : options_(options), instance_(net::new_instance()) {
    if (!net::is_name(options.name))
        throw Error("'" + options.name +
                    "' is no name of a port; give 1 to 64 letters, digits, '.', '_' and '-'");
    const bool listens = !options.address.empty() || !options.key.empty();
    if (!options.key.empty() && !options.secure)
        throw Error(
            "a key encrypts, and secure=False says that nothing is encrypted; leave out one");
    if (!options.secure && options.address.empty())
        throw Error(
            "secure=False is about other hosts; give the address, host:port, at which the "
            "port listens for them (address=)");
    file_ = net::new_port_file(options.name);
    file_.processes = options.processes;
    file_.key = options.key;
    if (listens && options.secure) {
        net::require_tls();
        if (options.key.empty()) {
            file_.key = file_.socket + ".key";
            ::unlink(file_.key.c_str());
            net::Key::make(file_.key);
            made_key_ = true;
        }
        key_ = std::make_shared<const net::Key>(net::Key::read(file_.key));
    }
    if (listens) {
        const std::string asked = options.address.empty() ? "0.0.0.0:0" : options.address;
        const auto address = net::address_of(asked);
        if (!address) throw Error("'" + asked + "' is no address; give host:port, as 'node17:0'");
        tcp_ = net::listen_tcp(*address);
        const bool any = address->host == "0.0.0.0" || address->host == "::";
        const std::string host = any ? host_name() : address->host;
        file_.address = (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
                        std::to_string(net::port_of(tcp_));
    }
    ::unlink(file_.socket.c_str());
    unix_ = net::listen_unix(file_.socket);
    try {
        net::add_port(file_);
    } catch (const Error&) {
        ::unlink(file_.socket.c_str());
        if (made_key_) ::unlink(file_.key.c_str());
        throw;
    }
}

Door::~Door() {
    net::remove_port(file_);
    if (made_key_ && file_.process == ::getpid()) ::unlink(file_.key.c_str());
}

void Door::accept_all() {
    for (const bool local : {true, false}) {
        const net::Descriptor& listener = local ? unix_ : tcp_;
        while (listener) {
            net::Descriptor made = net::accept_from(listener);
            if (!made) break;
            if (local && !net::is_our_user(made)) continue;
            if (!local) net::prepare_tcp(made);
            // The one that has waited longest makes room: a flood keeps nobody out for long.
            if (arrivals_.size() >= most_arrivals) arrivals_.pop_front();
            arrivals_.push_back({nullptr, std::move(made), local, platform::seconds() + patience});
        }
    }
}

// Its first byte says whether it speaks TLS.
void Door::begin(Arrival& arrival) const {
    std::byte first{};
    const auto got = ::recv(arrival.raw.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0) throw net::Disconnected("it left");
    if (got < 0) return;
    auto stream = first == tls_begins && key_ ? net::tls_server(std::move(arrival.raw), key_)
                                              : net::plain_stream(std::move(arrival.raw));
    const bool encrypted = first == tls_begins;
    arrival.connection =
        std::make_unique<net::Connection>(std::move(stream), net::longest_from_observer);
    if (encrypted && !key_) throw Error("this port has no key, so that its clients need none");
    if (!encrypted && !arrival.local && options_.secure)
        throw Error("this port is encrypted; give the path of its key file (key=)");
}

std::unique_ptr<Client> Door::advance(Arrival& arrival) const {
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
    if (!hello.port.empty() && hello.port != options_.name)
        throw Error("this is the port '" + options_.name + "', not '" + hello.port + "'");
    // Without a key: our own user by the Unix socket, or everybody where both sides say so.
    const net::Right right = connection.stream().right().value_or(net::Right::join);
    if (hello.role != net::Role::observer && right != net::Right::join)
        throw Error("this key lets nobody join; it is for observers");
    return std::make_unique<Client>(Client{std::move(arrival.connection), hello, right});
}

std::unique_ptr<Client> Door::next() {
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

void Door::welcome(Client& client, const std::string& rest) const {
    net::Welcome words;
    words.right = client.right;
    words.big_endian = std::endian::native == std::endian::big;
    words.instance = instance_;
    words.rest = rest;
    client.connection->send(static_cast<std::uint8_t>(net::Say::welcome), net::bytes_of(words));
}

void Door::refuse(net::Connection& connection, const std::string& why) {
    net::Writer writer;
    writer.text(why);
    try {
        connection.send(static_cast<std::uint8_t>(net::Say::refused), writer.bytes());
        connection.flush();
    } catch (const Error&) {
        return;  // it is gone already
    }
}

}  // namespace hocket::port
