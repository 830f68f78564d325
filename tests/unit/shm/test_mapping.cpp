// SPDX-License-Identifier: BSD-3-Clause
// Memory that others find and map; here a process finds its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/fd_passing.hpp"
#include "shm/mapping.hpp"

namespace hocket::shm::mapping_test {
namespace {

constexpr std::size_t pool_bytes = std::size_t{16} << 20;
// Read once, before the first allocation.
const int told = setenv("HOCKET_POOL_BYTES", "16777216", 1);

TEST(Map, IsTheSameMemory) {
    ASSERT_EQ(told, 0);
    const auto piece = allocate(1000);
    std::memset(piece.get(), 7, 1000);
    const auto address = shared_address_of(piece.get() + 10);
    ASSERT_TRUE(address);
    const auto there = map(address);
    ASSERT_NE(there, nullptr);
    EXPECT_NE(there.get(), piece.get() + 10);
    EXPECT_EQ(std::to_integer<int>(there.get()[0]), 7);
    piece.get()[10] = std::byte{9};
    EXPECT_EQ(std::to_integer<int>(there.get()[0]), 9);
    EXPECT_EQ(map(address), there);  // found again
}

TEST(Map, RefusesWhatIsNoSegmentOfOurs) {
    EXPECT_FALSE(shared_address_of(&told));
    const auto piece = allocate(1 << 20);
    auto address = shared_address_of(piece.get());
    ASSERT_TRUE(address);
    address.inode += 1;  // the descriptor means another file by now
    EXPECT_EQ(map(address), nullptr);
    address.inode -= 1;
    address.file = 1 << 20;
    address.inode += 2;
    EXPECT_EQ(map(address), nullptr);
    // A file of that inode, on another device than the segments.
    std::FILE* const other = std::tmpfile();
    ASSERT_NE(other, nullptr);
    ASSERT_EQ(ftruncate(fileno(other), 4096), 0);
    struct stat found {};
    ASSERT_EQ(fstat(fileno(other), &found), 0);
    address.file = fileno(other);
    address.inode = static_cast<std::int64_t>(found.st_ino);
    EXPECT_EQ(map(address), nullptr);
    std::fclose(other);
}

std::size_t mapped_bytes() {
    const std::vector<std::size_t> each = mapped();
    return std::accumulate(each.begin(), each.end(), std::size_t{0});
}

TEST(Map, KeepsNoMoreBytesThanThePool) {
    std::vector<std::shared_ptr<std::byte>> pieces;
    for (int i = 0; i < 12; ++i) {
        pieces.push_back(allocate(std::int64_t{4} << 20));
        const auto address = shared_address_of(pieces.back().get());
        ASSERT_TRUE(address);
        ASSERT_NE(map(address), nullptr);
        EXPECT_LE(mapped_bytes(), pool_bytes);
        EXPECT_GE(mapped().size(), 1u);
    }
    EXPECT_GE(mapped().size(), 3u);
    // One that is larger than the bound is still mapped, alone.
    pieces.push_back(allocate(std::int64_t{40} << 20));
    ASSERT_NE(map(shared_address_of(pieces.back().get())), nullptr);
    EXPECT_EQ(mapped().size(), 1u);
    ASSERT_NE(map(shared_address_of(pieces.front().get())), nullptr);
    EXPECT_LE(mapped_bytes(), pool_bytes);
}

// Exit codes of `enter_container`.
constexpr int no_process = 101, no_namespace = 102, no_choice_of_id = 103, wrong_id = 104,
              no_server = 105, killed = 106;

// Whether the system has and permits it; the process shows whether it has that id.
bool may_choose_next_id(pid_t id) {
    const int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    const bool written = file >= 0 && dprintf(file, "%d", id - 1) > 0;
    const int problem = errno;
    if (file >= 0) close(file);
    return written ||
           (problem != EPERM && problem != EACCES && problem != EROFS && problem != ENOENT);
}

// Becomes a process of a new namespace of ids, with that id there; all end with the first.
void enter_container(pid_t id) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(no_process);
    if (unshare(CLONE_NEWPID) != 0) _exit(errno == EPERM ? no_namespace : no_process);
    for (const bool is_last : {false, true}) {
        if (is_last && !may_choose_next_id(id)) _exit(no_choice_of_id);
        const pid_t next = fork();
        if (next > 0) {
            int status = -1;
            waitpid(next, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : killed);
        }
        if (next < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(no_process);
    }
    if (getpid() != id) _exit(wrong_id);
    if (!start_fd_server()) _exit(no_server);
}

/// A process with arrays that this one maps. `id`: in a container of its own; 0: in none.
class Owner {
  public:
    explicit Owner(std::size_t arrays, pid_t id = 0) : addresses(arrays) {
        int told_here[2];
        if (pipe(told_here) != 0) std::abort();
        process_ = fork();
        if (process_ == 0) {
            if (id != 0) enter_container(id);
            std::vector<std::shared_ptr<std::byte>> pieces;
            for (SharedAddress& each : addresses) {
                pieces.push_back(allocate(std::int64_t{512} << 10));
                each = shared_address_of(pieces.back().get());
            }
            const std::size_t bytes = addresses.size() * sizeof addresses[0];
            if (write(told_here[1], addresses.data(), bytes) != static_cast<ssize_t>(bytes))
                _exit(1);
            for (;;) pause();
        }
        close(told_here[1]);
        auto* at = reinterpret_cast<char*>(addresses.data());
        for (std::size_t left = addresses.size() * sizeof addresses[0]; left > 0;) {
            const ssize_t come = read(told_here[0], at, left);
            if (come <= 0) std::abort();
            at += come;
            left -= static_cast<std::size_t>(come);
        }
        close(told_here[0]);
    }
    ~Owner() {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    pid_t process() const { return process_; }
    std::vector<SharedAddress> addresses;

  private:
    pid_t process_ = 0;
};

TEST(Map, KnowsTheDeviceOfAllSegments) {
    const Owner other(1);
    const auto piece = allocate(1 << 20);
    const auto device_of = [](const SharedAddress& address) {
        struct stat found {};
        const std::string path =
            "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
        EXPECT_EQ(stat(path.c_str(), &found), 0);
        return found.st_dev;
    };
    EXPECT_EQ(device_of(other.addresses[0]), device_of(shared_address_of(piece.get())));
}

// As a transfer among 16 processes needs: source and result of 15 others, twice.
TEST(Map, KeepsTheArraysOfManyOwners) {
    constexpr std::size_t arrays = 20;
    std::vector<std::unique_ptr<Owner>> owners;
    for (int i = 0; i < 4; ++i) owners.push_back(std::make_unique<Owner>(arrays));
    std::vector<const std::byte*> first;
    for (const auto& owner : owners)
        for (const SharedAddress& each : owner->addresses) first.push_back(map(each).get());
    EXPECT_GE(mapped().size(), owners.size() * arrays);
    std::vector<const std::byte*> again;
    for (const auto& owner : owners)
        for (const SharedAddress& each : owner->addresses) again.push_back(map(each).get());
    EXPECT_EQ(again, first);
    EXPECT_EQ(std::count(first.begin(), first.end(), nullptr), 0);
    owners.clear();
    // A new owner's first mapping frees those of the processes that have ended.
    const Owner last(1);
    ASSERT_NE(map(last.addresses[0]), nullptr);
    EXPECT_LT(mapped().size(), arrays);
}

// An id that names nobody here, or another process.
TEST(Map, KeepsTheArraysOfOwnersInContainers) {
    const auto status_of = [](const auto& act) {
        const pid_t child = fork();
        if (child == 0) {
            act();
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        return status;
    };
    const Owner visible(8);
    // Not one of the next ids, nor above the highest.
    pid_t nobody = visible.process() + (visible.process() > 16000 ? -1000 : 1000);
    while (kill(nobody, 0) == 0 || kill(nobody + 1, 0) == 0) ++nobody;
    const int entered = status_of([&] { enter_container(nobody); });
    if (WIFEXITED(entered) &&
        (WEXITSTATUS(entered) == no_namespace || WEXITSTATUS(entered) == no_choice_of_id))
        GTEST_SKIP() << "only root makes a namespace of process ids, where the system allows it";
    ASSERT_EQ(entered, 0) << WEXITSTATUS(entered);
    const int status = status_of([&] {
        const Owner first(1, nobody), second(1, nobody + 1), third(1, visible.process());
        if (!start_fd_server()) _exit(1);
        if (map(first.addresses[0]) == nullptr) _exit(2);
        const std::size_t one = mapped().size();
        for (const Owner* each : {&second, &third})
            if (map(each->addresses[0]) == nullptr) _exit(3);
        if (mapped().size() != one + 2) _exit(4);
    });
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

// In a process of its own, which opens all files that it may.
TEST(Map, NeedsNoDescriptorThatIsLeft) {
    const auto piece = allocate(1 << 20), before = allocate(1 << 20);
    ASSERT_NE(map(shared_address_of(before.get())), nullptr);
    const pid_t child = fork();
    if (child == 0) {
        rlimit files{};
        getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = 64;
        setrlimit(RLIMIT_NOFILE, &files);
        while (dup(0) >= 0) continue;
        if (map({getppid(), shared_address_of(piece.get()).file,
                 shared_address_of(piece.get()).inode, 0}) == nullptr)
            _exit(1);
        const auto alone = allocate(1 << 20);  // private
        if (shared_address_of(alone.get())) _exit(2);
        try {
            static_cast<void>(allocate_shared(1 << 20));
        } catch (const Error& error) {
            _exit(std::string(error.what()).find("open files") != std::string::npos ? 0 : 3);
        }
        _exit(4);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hocket::shm::mapping_test
