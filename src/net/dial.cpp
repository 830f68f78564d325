// SPDX-License-Identifier: BSD-3-Clause
#include "net/dial.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "net/observing.hpp"

namespace hocket::net {
namespace {

constexpr double default_wait = 10, between_looks = 0.05;

std::string quoted(const std::string& name) {
    return "'" + name + "'";
}

[[noreturn]] void fail_unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const PortFile& port : live_ports()) names.push_back(port.name);
    throw DeadlineError(
        "there is no port " + quoted(name) + " of this user on this host" +
        text::did_you_mean(name, names) +
        (names.empty() ? std::string("; there is none at all")
                       : "; there are " + text::quoted_list(names)) +
        "; start the program that opens it, give its host:port, or wait longer (timeout=)");
}

class Attempt {
  public:
    explicit Attempt(const Dialling& how)
        : how_(how), until_(platform::seconds() + how.timeout.value_or(default_wait)) {}

    Dialled run(Hello hello) {
        if (!how_.key.empty()) {
            if (!how_.secure)
                throw Error(
                    "a key encrypts, and secure=False says that nothing is encrypted; "
                    "leave out one of them");
            key_ = std::make_shared<const Key>(Key::read(how_.key));
        }
        const auto address = address_of(how_.port);
        Connection connection(address ? to(*address) : by_name(hello), longest_to_observer);
        return greeted(std::move(connection), hello);
    }

  private:
    std::unique_ptr<Stream> to(const Address& address) {
        if (how_.secure && !key_)
            throw Error("to connect to " + how_.port +
                        " a key is needed; give the path of the key file that the port has (key=), "
                        "or say secure=False on both sides");
        return protected_by_key(dial_tcp(address, left()));
    }

    std::unique_ptr<Stream> by_name(Hello& hello) {
        if (!is_name(how_.port))
            throw Error(quoted(how_.port) +
                        " is no name of a port; give letters, digits, '.', '_' and '-', or "
                        "host:port");
        hello.port = how_.port;
        for (;;) {
            const auto found = find_port(how_.port);
            if (found) {
                try {
                    Descriptor connection = dial_unix(found->socket, left());
                    if (!is_our_user(connection))
                        throw Error("the port " + quoted(how_.port) + " belongs to another user");
                    return protected_by_key(std::move(connection));
                } catch (const Error&) {
                    // It may just be ending, or beginning.
                    if (platform::seconds() > until_) throw;
                }
            }
            if (platform::seconds() > until_) fail_unknown(how_.port);
            if (how_.interrupt != nullptr) how_.interrupt();
            platform::sleep(between_looks);
        }
    }

    std::unique_ptr<Stream> protected_by_key(Descriptor connection) {
        if (!key_) return plain_stream(std::move(connection));
        return tls_client(std::move(connection), key_, key_->suited(how_.wanted));
    }

    Dialled greeted(Connection connection, const Hello& hello) {
        wait(connection, [&] { return connection.stream().open(); });
        connection.send_raw(bytes_of(hello));
        std::optional<Frame> answer;
        wait(connection, [&] {
            connection.flush();
            answer = connection.receive();
            return answer.has_value();
        });
        Reader reader(answer->body);
        if (answer->kind == static_cast<std::uint8_t>(Say::refused))
            throw Error("the port " + quoted(how_.port) + " refuses: " + reader.text(longest_text));
        if (answer->kind != static_cast<std::uint8_t>(Say::welcome))
            throw Error(quoted(how_.port) + " does not answer as a port does");
        Welcome welcome;
        const std::uint8_t right = reader.u8();
        if (right < 1 || right > 3) throw Error("a port gives right " + std::to_string(right));
        welcome.right = static_cast<Right>(right);
        welcome.big_endian = reader.u8() != 0;
        const auto instance = reader.raw(welcome.instance.size());
        std::copy(instance.begin(), instance.end(), welcome.instance.begin());
        welcome.rest = reader.text(longest_to_observer);
        reader.end();
        if (welcome.instance == hello.instance)
            throw Error("the port " + quoted(how_.port) + " is this client itself");
        return {std::make_unique<Connection>(std::move(connection)), std::move(welcome)};
    }

    template <class Done>
    void wait(Connection& connection, Done done) {
        try {
            while (!done()) {
                if (platform::seconds() > until_)
                    throw DeadlineError("the port " + quoted(how_.port) +
                                        " has not answered in time; its program may be busy "
                                        "elsewhere, or be stopped");
                idle(connection, connection.queued() > 0, how_.interrupt);
            }
        } catch (const Disconnected& error) {
            throw PeerLostError("the port " + quoted(how_.port) +
                                " let nobody in: " + error.what() +
                                "; either its program has ended, or it wants a key (key=), or "
                                "another one");
        }
    }

    double left() const { return std::max(0.0, until_ - platform::seconds()); }

    const Dialling& how_;
    double until_;
    std::shared_ptr<const Key> key_;
};

}  // namespace

Bytes bytes_of(const Welcome& welcome) {
    Writer writer;
    writer.u8(static_cast<std::uint8_t>(welcome.right))
        .u8(welcome.big_endian ? 1 : 0)
        .raw(welcome.instance)
        .text(welcome.rest);
    return {writer.bytes().begin(), writer.bytes().end()};
}

Dialled dial(const Dialling& how, Hello hello) {
    if (!how.secure) {
        static std::once_flag warned;
        std::call_once(warned, [] {
            std::fputs(
                "hocket: secure=False: whoever reaches the line can read and change what passes\n",
                stderr);
        });
    }
    return Attempt(how).run(std::move(hello));
}

void idle(Connection& connection, bool writing, void (*interrupt)()) {
    if (interrupt != nullptr) interrupt();
    wait_for(connection.stream().descriptor(), writing, between_looks);
}

}  // namespace hocket::net
