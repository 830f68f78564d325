// SPDX-License-Identifier: BSD-3-Clause
// What a fork makes of segments: the child's memory is its own. Large ones begin at huge pages.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>

#include "shm/segment.hpp"

namespace hocket::shm::segment_test {
namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

struct Owned {
    explicit Owned(std::size_t bytes) : segment(make_segment(bytes, "hocket.test")) {}
    ~Owned() { free_segment(segment); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    char& at(std::size_t address) { return reinterpret_cast<char*>(segment.data)[address]; }
    void fill(char value) { std::memset(segment.data, value, segment.bytes); }
    Segment segment;
};

// A child stops here until its parent has changed the memory.
class Gate {
  public:
    Gate() { opened_ = pipe(ends_.data()) == 0; }
    ~Gate() {
        close(ends_[0]);
        close(ends_[1]);
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    void open() { opened_ = opened_ && write(ends_[1], "x", 1) == 1; }
    void pass() {
        char word = 0;
        opened_ = opened_ && read(ends_[0], &word, 1) == 1;
    }
    bool works() const { return opened_; }

  private:
    std::array<int, 2> ends_{};
    bool opened_ = false;
};

// Whether `child` says so in a fork, while its parent runs `meanwhile`.
bool holds(const std::function<bool()>& child, const std::function<void()>& meanwhile = {}) {
    const pid_t id = fork();
    if (id == 0) _exit(child() ? 0 : 1);
    if (meanwhile) meanwhile();
    int status = -1;
    return waitpid(id, &status, 0) == id && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Segment, ForReadersIsWrittenToByItsProcessAlone) {
    const Segment segment = make_sealed_segment(10000, "hocket.test");
    ASSERT_GE(segment.file, 0);
    std::memset(segment.data, 7, segment.bytes);
    EXPECT_LT(write(segment.file, "x", 1), 0);
    EXPECT_NE(ftruncate(segment.file, 0), 0);
    EXPECT_NE(ftruncate(segment.file, 1 << 20), 0);
    const auto map = [&](int rights) {
        void* const at = mmap(nullptr, segment.bytes, rights, MAP_SHARED, segment.file, 0);
        return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
    };
    EXPECT_EQ(map(PROT_READ | PROT_WRITE), nullptr);
    char* const seen = map(PROT_READ);
    ASSERT_NE(seen, nullptr);
    EXPECT_NE(mprotect(seen, segment.bytes, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(seen[9999], 7);
    segment.data[9999] = std::byte{8};
    EXPECT_EQ(seen[9999], 8);
    munmap(seen, segment.bytes);
    free_segment(segment);
}

TEST(Segment, OfSomeMebibytesBeginsAtAHugePageInEachProcess) {
    for (const std::size_t bytes : {2 * mebi, 5 * mebi + 4096}) {
        Owned owned(bytes);
        if (owned.segment.file >= 0) take_huge_pages(owned.segment.data, bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(owned.segment.data) % huge_page, 0U);
        for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(owned.at(at), 0) << at;
        owned.at(0) = 'a';
        owned.at(bytes - 1) = 'z';
        std::byte* const other = map_segment(owned.segment.file, owned.segment.bytes);
        ASSERT_NE(other, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other) % huge_page, 0U);
        EXPECT_EQ(other[0], std::byte{'a'});
        EXPECT_EQ(other[bytes - 1], std::byte{'z'});
        unmap_segment(other, owned.segment.bytes);
    }
}

TEST(Segment, OfAForkIsACopy) {
    Owned small(1000), large(8 * mebi);
    ASSERT_GE(large.segment.file, 0);
    small.fill(1);
    large.at(5 * mebi) = 1;  // most of its pages are none
    Gate gate;
    const auto child = [&] {
        gate.pass();
        if (!gate.works() || small.at(999) != 1 || large.at(5 * mebi) != 1 || large.at(0) != 0)
            return false;
        small.fill(3);
        large.at(3) = 3;
        return holds([&] { return small.at(0) == 3 && large.at(3) == 3 && large.at(4) == 0; });
    };
    EXPECT_TRUE(holds(child, [&] {
        small.fill(2);
        large.fill(2);
        gate.open();
    }));
    EXPECT_EQ(small.at(0), 2);
    EXPECT_EQ(large.at(3), 2);
}

TEST(Segment, OfAForkIsWrittenByItselfWhateverItsLength) {
    Owned huge(most_copied + mebi);
    huge.fill(1);
    const auto child = [&] {
        huge.at(0) = 3;
        return huge.at(0) == 3 && huge.at(1) == 1 && huge.at(most_copied) == 1;
    };
    EXPECT_TRUE(holds(child));
    EXPECT_EQ(huge.at(0), 1);
    // Freed segments do not count.
    Owned small(1000);
    small.fill(1);
    use_segment(huge.segment, false);
    Gate gate;
    const auto later = [&] {
        gate.pass();
        return small.at(0) == 1;
    };
    EXPECT_TRUE(holds(later, [&] {
        small.fill(2);
        gate.open();
    }));
}

TEST(Segment, OfAnotherProcessIsNotAForks) {
    Owned mine(1000);
    mine.fill(1);
    std::byte* const theirs = map_segment(mine.segment.file, mine.segment.bytes);
    ASSERT_NE(theirs, nullptr);
    const auto child = [&] {
        const bool empty = std::to_integer<int>(*theirs) == 0;
        *theirs = std::byte{3};
        return empty;
    };
    EXPECT_TRUE(holds(child));
    EXPECT_EQ(std::to_integer<int>(*theirs), 1);
    unmap_segment(theirs, mine.segment.bytes);
}

}  // namespace
}  // namespace hocket::shm::segment_test
