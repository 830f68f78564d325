// SPDX-License-Identifier: BSD-3-Clause
#include "shm/fd_passing.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "base/descriptors.hpp"
#include "base/pool.hpp"

namespace hocket::shm {
namespace {

constexpr timeval timeout{5, 0};

std::atomic<pid_t> serving_process{0};  // the process that serves: a fork has no service thread

// The name of a process's socket, and its length. Abstract names are in no file system, so nothing
// remains.
std::pair<sockaddr_un, socklen_t> name_of(std::int64_t process) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = "hocket." + std::to_string(geteuid()) + "." + std::to_string(process);
    std::copy(text.begin(), text.end(), name.sun_path + 1);
    return {name, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())};
}

// The number of a descriptor, and the inode of its file.
using DescriptorRequest = std::array<std::int64_t, 2>;

bool same_user(int client) {
    ucred who{};
    socklen_t length = sizeof who;
    return getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 && who.uid == geteuid();
}

// Accepts segments only, and no other file of this process.
bool is_segment(const DescriptorRequest& request) {
    const auto file = static_cast<int>(request[0]);
    struct stat found {};
    return fstat(file, &found) == 0 && static_cast<std::int64_t>(found.st_ino) == request[1] &&
           fcntl(file, F_GET_SEALS) >= 0;
}

/// Repeats calls that a signal has interrupted, which calls with a timeout do not do themselves.
template <class Call>
auto uninterrupted(const Call& call) {
    for (;;) {
        const auto result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

void serve(int client) {
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    DescriptorRequest request{};
    if (!same_user(client) ||
        uninterrupted([&] { return recv(client, &request, sizeof request, 0); }) != sizeof request)
        return;
    const bool given = is_segment(request);
    const int file = given ? static_cast<int>(request[0]) : -1;
    const std::byte answer{given};
    static_cast<void>(
        uninterrupted([&] { return base::send_descriptor(client, std::span(&answer, 1), file); }));
}

[[noreturn]] void serve_all(int listener) {
    for (;;) {
        const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) {  // for example no free descriptor: that may change
            poll(nullptr, 0, 10);
            continue;
        }
        serve(client);
        close(client);
    }
}

bool start_server() {
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0) return false;
    const auto [name, length] = name_of(getpid());
    constexpr int waiting = 1024;
    if (bind(listener, reinterpret_cast<const sockaddr*>(&name), length) != 0 ||
        listen(listener, waiting) != 0) {
        close(listener);
        return false;
    }
    // Never destroyed: it serves as long as the process lives.
    static base::ServiceThreads* crew = nullptr;
    crew = new base::ServiceThreads(1, [listener](int) { serve_all(listener); });
    static_cast<void>(crew);  // keeps it reachable for leak checkers
    return true;
}

}  // namespace

bool fd_server_runs() {
    return serving_process == getpid();
}

bool start_fd_server() {
    static std::mutex once;
    const std::lock_guard lock(once);
    if (fd_server_runs()) return true;
    if (forbidden(Mechanism::socket) || !start_server()) return false;
    serving_process = getpid();
    return true;
}

int request_fd(const SharedAddress& remote) {
    const int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (line < 0) return -1;
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    const auto [name, length] = name_of(remote.process);
    const DescriptorRequest request{remote.file, remote.inode};
    std::byte given{};
    int file = -1;
    const bool asked =
        connect(line, reinterpret_cast<const sockaddr*>(&name), length) == 0 && same_user(line) &&
        uninterrupted([&] { return send(line, &request, sizeof request, MSG_NOSIGNAL); }) ==
            sizeof request;
    if (asked)
        uninterrupted([&] { return base::receive_descriptor(line, std::span(&given, 1), file); });
    close(line);
    return file;
}

}  // namespace hocket::shm
