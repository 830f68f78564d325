// SPDX-License-Identifier: BSD-3-Clause
// Memory that others find and map; here a process finds its own.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/memory.hpp"
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
