// SPDX-License-Identifier: BSD-3-Clause
#include "shm/liveness.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "shm/process_table.hpp"
#include "shm/status_page.hpp"

namespace hocket::shm {
namespace {

bool lives(const ProcessIdentity& identity) {
    const auto entry = process_entry(identity.process);
    return entry && entry->start == identity.start && !entry->ended();
}

int open_process(std::int64_t process) {
#ifdef SYS_pidfd_open
    return static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
#else
    static_cast<void>(process);
    return -1;
#endif
}

std::int64_t own_pid_namespace() {
    struct stat found {};
    return stat("/proc/self/ns/pid", &found) == 0 ? static_cast<std::int64_t>(found.st_ino) : 0;
}

}  // namespace

ProcessIdentity own_identity() {
    const std::int64_t process = getpid();
    const auto entry = process_entry(process);
    return {process, entry ? entry->start : 0, own_pid_namespace()};
}

std::optional<ProcessMonitor> ProcessMonitor::on(const ProcessIdentity& identity) {
    if (identity.start == 0 || identity.pid_namespace != own_pid_namespace()) return std::nullopt;
    // Opens it before it compares identities, so that both refer to the same process.
    ProcessMonitor watch(identity, open_process(identity.process));
    if (!lives(identity)) return std::nullopt;
    return watch;
}

ProcessMonitor::ProcessMonitor(ProcessMonitor&& other) noexcept
    : identity_(other.identity_),
      status_page_(std::move(other.status_page_)),
      file_(std::exchange(other.file_, -1)) {}

ProcessMonitor::~ProcessMonitor() {
    if (file_ >= 0) close(file_);
}

bool ProcessMonitor::ended() const {
    if (file_ < 0) return !lives(identity_);
    pollfd asked{file_, POLLIN, 0};
    return poll(&asked, 1, 0) > 0;
}

bool ProcessMonitor::left() const {
    return knows_status() && has_left(status_page_.get());
}

bool ProcessMonitor::waits_for(std::uint64_t number) const {
    return knows_status() && waits(status_page_.get(), number);
}

}  // namespace hocket::shm
