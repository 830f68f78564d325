// SPDX-License-Identifier: BSD-3-Clause
#include "net/descriptor.hpp"

#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::net {
namespace {

constexpr int backlog = 128;
// TCP_RTO_MAX_MS of Linux 6.15: the longest time between two probes. Headers may be older.
constexpr int longest_between_probes = 44;
// Milliseconds. The system asks a silent host after a second, which then has 0.7 s to answer.
constexpr std::uint32_t longest_silence = 1700;

[[noreturn]] void fail_socket(const std::string& what, int error = errno) {
    throw Error("cannot " + what + ": " + std::strerror(error));
}

sockaddr_un unix_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        throw Error("the path '" + path + "' of a socket has " + std::to_string(path.size()) +
                    " characters, and the system takes " +
                    std::to_string(sizeof address.sun_path - 1) +
                    "; set XDG_RUNTIME_DIR to a shorter folder, or give a shorter name");
    std::copy(path.begin(), path.end(), std::begin(address.sun_path));
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

void set(int socket, int level, int option, int value) {
    static_cast<void>(::setsockopt(socket, level, option, &value, sizeof value));
}

using Found = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Found look_up(const Address& address, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const char* host = address.host.empty() ? nullptr : address.host.c_str();
    const int error = ::getaddrinfo(host, address.service.c_str(), &hints, &found);
    if (error != 0)
        throw Error("the host '" + address.host + "' is not known here: " + ::gai_strerror(error));
    return {found, &::freeaddrinfo};
}

// One address of a host; the error number, 0 once connected.
int finish_dialling(const Descriptor& connection, const sockaddr* to, socklen_t length,
                    double until) {
    if (::connect(connection.get(), to, length) == 0) return 0;
    if (errno != EINPROGRESS && errno != EAGAIN) return errno;
    while (platform::seconds() < until) {
        pollfd waited{connection.get(), POLLOUT, 0};
        const double left = std::max(0.0, until - platform::seconds());
        if (::poll(&waited, 1, static_cast<int>(1000 * std::min(left, 0.1)) + 1) <= 0) continue;
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        return error;
    }
    return ETIMEDOUT;
}

}  // namespace

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

std::optional<Address> address_of(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    Address address{text.substr(0, colon), text.substr(colon + 1)};
    if (address.host.size() > 1 && address.host.front() == '[' && address.host.back() == ']')
        address.host = address.host.substr(1, address.host.size() - 2);
    const auto number = text::whole_number(address.service);
    if (address.host.empty() || !number || *number < 0 || *number > 65535)
        throw Error("'" + text + "' is no address; give host:port, as 'node17:4711' or '[::1]:0'");
    return address;
}

Descriptor listen_unix(const std::string& path) {
    const sockaddr_un address = unix_address(path);
    Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made) fail_socket("make a socket");
    if (::bind(made.get(), generic(address), sizeof address) != 0)
        fail_socket("make '" + path + "'");
    if (::listen(made.get(), backlog) != 0) fail_socket("listen at '" + path + "'");
    return made;
}

Descriptor listen_tcp(const Address& address) {
    const Found found = look_up(address, AI_PASSIVE);
    int error = 0;
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
        Descriptor made(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!made) continue;
        set(made.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (::bind(made.get(), one->ai_addr, one->ai_addrlen) == 0 &&
            ::listen(made.get(), backlog) == 0)
            return made;
        error = errno;
    }
    fail_socket("listen at " + address.host + ":" + address.service, error);
}

int port_of(const Descriptor& listener) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
        fail_socket("ask a socket for its address");
    if (address.ss_family == AF_INET6)
        return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Descriptor accept_from(const Descriptor& listener) {
    return Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

bool is_our_user(const Descriptor& connection) {
    ucred other{};
    socklen_t length = sizeof other;
    return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
           length == sizeof other && other.uid == ::geteuid();
}

Descriptor dial_unix(const std::string& path, double seconds) {
    const sockaddr_un address = unix_address(path);
    const double until = platform::seconds() + seconds;
    for (;;) {
        Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!made) fail_socket("make a socket");
        const int error = ::connect(made.get(), generic(address), sizeof address) == 0 ? 0 : errno;
        if (error == 0) return made;
        if (error == EAGAIN && seconds <= 0) return {};
        if (error != EAGAIN || platform::seconds() >= until)
            fail_socket("connect to '" + path + "'", error);
        platform::sleep(0.01);  // its queue is full
    }
}

bool is_abandoned(const std::string& path) {
    const sockaddr_un address = unix_address(path);
    const Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return made && ::connect(made.get(), generic(address), sizeof address) != 0 &&
           (errno == ECONNREFUSED || errno == ENOENT);
}

Descriptor dial_tcp(const Address& address, double seconds) {
    const Found found = look_up(address, 0);
    const double until = platform::seconds() + seconds;
    int error = ETIMEDOUT;
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
        Descriptor made(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!made) continue;
        error = finish_dialling(made, one->ai_addr, one->ai_addrlen, until);
        if (error != 0) continue;
        prepare_tcp(made);
        return made;
    }
    throw Unreachable("cannot connect to " + address.host + ":" + address.service + ": " +
                      std::strerror(error));
}

void prepare_tcp(const Descriptor& connection) {
    const int socket = connection.get();
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 1);
    set(socket, IPPROTO_TCP, longest_between_probes, 1000);
}

bool is_unanswered(const Descriptor& connection) {
    // Not TCP_USER_TIMEOUT: that ends a connection whose reader computes and leaves its window
    // closed, too.
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(connection.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
    // Bytes that arrive with nothing to acknowledge do not count as an acknowledgement.
    if (std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv) <= longest_silence)
        return false;
    // The system probes a connection without bytes under way after a second of silence, and would
    // end it after two seconds and more. It also probes a window that is closed, instead of sending
    // bytes again; before Linux 6.15 at growing intervals, so that a first probe may just have
    // left.
    int queued = 0, between = 0;
    length = sizeof between;
    static_cast<void>(::ioctl(connection.get(), SIOCOUTQ, &queued));
    static_cast<void>(
        ::getsockopt(connection.get(), IPPROTO_TCP, longest_between_probes, &between, &length));
    const bool often = queued == 0 || between == 1000;
    return info.tcpi_retransmits > 1 || info.tcpi_probes > (often ? 0 : 1);
}

void wait_for(const Descriptor& connection, bool writing, double seconds) {
    pollfd waited{connection.get(), static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), 0};
    static_cast<void>(::poll(&waited, 1, static_cast<int>(1000 * seconds) + 1));
}

}  // namespace hocket::net
