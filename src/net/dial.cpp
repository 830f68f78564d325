// SPDX-License-Identifier: BSD-3-Clause
#include "net/dial.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "net/observer_messages.hpp"

namespace hocket::net {
namespace {

constexpr double default_wait = 10, between_checks = 0.05, longest_try = 2;

[[noreturn]] void fail_unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const PortFile& port : live_ports()) names.push_back(port.name);
    throw DeadlineError(
        "there is no port " + text::quoted(name) + " of this user on this host" +
        text::did_you_mean(name, names) +
        (names.empty() ? std::string("; there is none at all")
                       : "; there are " + text::quoted_list(names)) +
        "; start the program that opens it, give its host:port, or wait longer (timeout=)");
}

void warn_once() {
    static std::once_flag warned;
    std::call_once(warned, [] {
        std::fputs(
            "hocket: a line is not secure: whoever reaches it can read and change what passes\n",
            stderr);
    });
}

}  // namespace

Dial::Dial(DialOptions how, Hello hello)
    : how_(std::move(how)),
      hello_(std::move(hello)),
      until_(platform::seconds() + how_.timeout.value_or(default_wait)) {
    if (!how_.secure) warn_once();
    if (how_.key.empty()) return;
    if (!how_.secure)
        throw Error(
            "a key encrypts, and a line that is not secure encrypts nothing; leave out one of "
            "them");
    key_ = std::make_shared<const Key>(Key::read(how_.key));
}

bool Dial::poll() {
    if (in_) return true;
    try {
        in_ = reach() && greet();
        if (!in_ && connection_) connection_->stream().require_answers();
    } catch (const Disconnected& error) {
        throw JobLostError("the port " + text::quoted(how_.port) +
                           " let nobody in: " + error.what() +
                           "; either its program or the line to it has ended, or it wants a key "
                           "file, or another one");
    }
    if (in_ || platform::seconds() < until_) return in_;
    if (!connection_) fail_unreached();
    throw DeadlineError("the port " + text::quoted(how_.port) +
                        " has not answered in time; its program may be busy elsewhere, or be "
                        "stopped");
}

double Dial::left() const {
    return std::max(0.0, until_ - platform::seconds());
}

bool Dial::reach() {
    if (connection_) return true;
    if (how_.port.starts_with('/')) {
        local_ = true;
        if (auto made = dial_unix(how_.port, how_.route ? 0 : left())) connect(std::move(made));
    } else if (const auto address = address_of(how_.port)) {
        if (how_.secure && !key_)
            throw Error("to connect to " + how_.port +
                        " a key is needed; give the path of the key file that the port has, or "
                        "say on both sides that the line is not secure");
        reach_host(*address);
    } else {
        reach_name();
    }
    return connection_ != nullptr;
}

void Dial::reach_host(const Address& address) {
    if (platform::seconds() < next_try_) return;
    const auto later = [&](const Error& error) {
        unreachable_ = error.what();
        next_try_ = platform::seconds() + between_checks;
    };
    try {
        connect(dial_tcp(address, std::clamp(left(), between_checks, longest_try)));
    } catch (const Unreachable& error) {
        // A process of a job that is there listens already.
        if (how_.route && !how_.again) throw;
        later(error);
    } catch (const Error& error) {
        if (!how_.again) throw;
        later(error);
    }
}

void Dial::fail_unreached() const {
    if (unreachable_.empty()) fail_unknown(how_.port);
    throw DeadlineError(unreachable_ + ", for " +
                        text::seconds(how_.timeout.value_or(default_wait)) +
                        "; start the program that opens this port, look at its host:port, or wait "
                        "longer (timeout=)");
}

void Dial::reach_name() {
    if (!is_name(how_.port))
        throw Error(text::quoted(how_.port) +
                    " is no name of a port; give letters, digits, '.', '_' and '-', or host:port");
    const auto found = find_port(how_.port);
    if (!found) return;
    hello_.port = how_.port;
    local_ = true;
    try {
        if (auto made = dial_unix(found->socket, left())) connect(std::move(made));
    } catch (const Error&) {
        // It may just be ending, or beginning.
        if (connection_ || left() <= 0) throw;
    }
}

void Dial::connect(Descriptor descriptor) {
    if (local_ && !is_our_user(descriptor))
        throw Error("the port " + text::quoted(how_.port) + " belongs to another user");
    if (how_.route && !local_) {
        const Bytes route = bytes_of(*how_.route);
        // A new connection has room for these few bytes.
        if (::send(descriptor.get(), route.data(), route.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(route.size()))
            throw JobLostError("the port " + text::quoted(how_.port) + " takes no bytes");
    }
    connection_ = std::make_unique<Connection>(
        key_ ? tls_client(std::move(descriptor), key_, key_->suited(how_.wanted))
             : plain_stream(std::move(descriptor), local_ && hello_.role == Role::observer),
        longest_to_observer);
}

bool Dial::greet() {
    if (!connection_->stream().open()) return false;
    if (!std::exchange(said_, true)) connection_->send_raw(bytes_of(hello_));
    connection_->flush();
    const auto answer = connection_->receive();
    if (!answer) return false;
    Reader reader(answer->body);
    if (answer->kind == static_cast<std::uint8_t>(MessageKind::refused))
        throw Error("the port " + text::quoted(how_.port) +
                    " refuses: " + reader.text(longest_text));
    if (answer->kind != static_cast<std::uint8_t>(MessageKind::welcome))
        throw Error(text::quoted(how_.port) + " does not answer as a port does");
    const std::uint8_t right = reader.u8();
    if (right < 1 || right > 3) throw Error("a port gives right " + std::to_string(right));
    welcome_.right = static_cast<Right>(right);
    welcome_.big_endian = reader.u8() != 0;
    const auto instance = reader.raw(welcome_.instance.size());
    std::copy(instance.begin(), instance.end(), welcome_.instance.begin());
    welcome_.rest = reader.text(longest_to_observer);
    reader.end();
    if (welcome_.instance == hello_.instance)
        throw Error("the port " + text::quoted(how_.port) + " is this client itself");
    return true;
}

void Dial::idle() {
    if (connection_)
        net::idle(*connection_, connection_->queued() > 0);
    else
        platform::sleep(between_checks);
}

Bytes bytes_of(const Welcome& welcome) {
    Writer writer;
    writer.u8(static_cast<std::uint8_t>(welcome.right))
        .u8(welcome.big_endian ? 1 : 0)
        .raw(welcome.instance)
        .text(welcome.rest);
    return {writer.bytes().begin(), writer.bytes().end()};
}

void idle(Connection& connection, bool writing) {
    wait_for(connection.stream().descriptor(), writing, between_checks);
}

}  // namespace hocket::net
