// SPDX-License-Identifier: BSD-3-Clause
// Voices and lanes between processes: plain forks, which inherit the shared memory.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "base/port.hpp"
#include "shm/lane.hpp"
#include "shm/sharing.hpp"

namespace hocket::shm {
namespace {

constexpr unsigned limit = 100;  // seconds; a process that waits longer is ended

// How many rounds there are. On a machine that others use a round may take a slice of the
// scheduler's: who says first ends them early then, before it says the last.
class Rounds {
  public:
    explicit Rounds(std::uint64_t most) : last_(most) {}
    bool go_on(std::uint64_t epoch) const { return epoch <= last_.load(); }
    void leader_begins(std::uint64_t epoch) {
        if (epoch % 256 == 0 && Clock::now() - began_ > std::chrono::seconds(4)) last_.store(epoch);
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point began_ = Clock::now();
    std::atomic<std::uint64_t> last_;
};

template <class T, class... Arguments>
std::shared_ptr<T> shared(Arguments... arguments) {
    static_assert(std::is_trivially_destructible_v<T>);
    // Not a segment, which a fork has for itself.
    void* const at =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return {new (at) T(arguments...), [](T* made) { munmap(made, sizeof(T)); }};
}

// A process that does `work`, and its answer.
class Child {
  public:
    explicit Child(const std::function<bool()>& work) : id_(fork()) {
        if (id_ != 0) return;
        alarm(limit);
        _exit(work() ? 0 : 1);
    }
    Child(Child&& other) noexcept : id_(other.id_) { other.id_ = -1; }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    Child& operator=(Child&&) = delete;
    ~Child() {
        if (id_ <= 0) return;
        kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
    }
    bool agrees() {
        int status = -1;
        if (id_ <= 0 || waitpid(id_, &status, 0) != id_) return false;
        id_ = -1;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

  private:
    pid_t id_;
};

// There may be fewer cores than processes.
void wait(const std::function<bool()>& condition) {
    for (int turns = 0; !condition(); ++turns) {
        if (turns % 64 == 63)
            port::yield();
        else
            port::pause();
    }
}

Words said_by(std::uint64_t process, std::uint64_t epoch) {
    Words words{};
    for (std::size_t i = 0; i < cell_words; ++i)
        words[i] = (epoch * 0x9e3779b97f4a7c15u) ^ (process << 8 | i);
    return words;
}

struct Conversation {
    explicit Conversation(std::uint64_t most) : rounds(most) {}
    Rounds rounds;
    Lane lane;
};

// Says and hears half of all sayings each; false at the first that is not what was said.
bool ping_pong(Rounds& rounds, Voice& mine, const Voice& other, std::uint64_t me) {
    for (std::uint64_t epoch = 1; rounds.go_on(epoch); ++epoch) {
        if (me == 0) rounds.leader_begins(epoch);
        if (me == 0) mine.say(epoch, said_by(me, epoch));
        wait([&] { return other.heard(epoch); });
        if (other.words(epoch) != said_by(1 - me, epoch)) return false;
        if (me == 1) mine.say(epoch, said_by(me, epoch));
    }
    return true;
}

TEST(Lane, AMillionSayingsAnswered) {
    const auto both = shared<Conversation>(500'000);
    Lane& lane = both->lane;
    Child one([&] { return ping_pong(both->rounds, lane.back, lane.forward, 1); });
    Child zero([&] { return ping_pong(both->rounds, lane.forward, lane.back, 0); });
    EXPECT_TRUE(zero.agrees());
    EXPECT_TRUE(one.agrees());
}

TEST(Lane, AMillionSayingsTwoAhead) {
    const auto both = shared<Conversation>(1'000'000);
    Rounds& rounds = both->rounds;
    Lane& lane = both->lane;
    Child receiver([&] {
        for (std::uint64_t epoch = 1; rounds.go_on(epoch); ++epoch) {
            wait([&] { return lane.forward.heard(epoch); });
            if (lane.forward.words(epoch) != said_by(0, epoch)) return false;
            lane.back.say(epoch, {}, 0);
        }
        return true;
    });
    Child sender([&] {
        for (std::uint64_t epoch = 1; rounds.go_on(epoch); ++epoch) {
            if (epoch > 2) wait([&] { return lane.back.heard(epoch - 2); });
            rounds.leader_begins(epoch);
            lane.forward.say(epoch, said_by(0, epoch));
        }
        return true;
    });
    EXPECT_TRUE(sender.agrees());
    EXPECT_TRUE(receiver.agrees());
}

TEST(Lane, RoundsOfThreeProcesses) {
    struct Team {
        Rounds rounds{50'000};
        Voice voices[3];
    };
    const auto team = shared<Team>();
    std::vector<Child> children;
    for (std::uint64_t me = 0; me < 3; ++me)
        children.emplace_back([&, me] {
            for (std::uint64_t epoch = 1; team->rounds.go_on(epoch); ++epoch) {
                if (me == 0) team->rounds.leader_begins(epoch);
                team->voices[me].say(epoch, said_by(me, epoch));
                for (std::uint64_t other = 0; other < 3; ++other) {
                    const Voice& voice = team->voices[other];
                    wait([&] { return voice.heard(epoch); });
                    if (voice.words(epoch) != said_by(other, epoch)) return false;
                }
            }
            return true;
        });
    for (Child& child : children) EXPECT_TRUE(child.agrees());
}

TEST(Lane, EachPartIsClaimedOnce) {
    constexpr std::uint64_t transfers = 300;
    constexpr std::uint64_t parts = 257;
    struct Work {
        Lane lane;
        std::atomic<int> here{0};
        std::atomic<int> taken[transfers * parts] = {};
        std::uint64_t copied[transfers * parts] = {};  // `finish` has to publish it
    };
    const auto work = shared<Work>();
    std::vector<Child> children;
    for (int me = 0; me < 3; ++me)
        children.emplace_back([&] {
            work->here.fetch_add(1);
            wait([&] { return work->here.load() == 3; });
            for (std::uint64_t end = parts; end <= transfers * parts; end += parts) {
                for (std::uint64_t part; (part = work->lane.claim(end)) != end;) {
                    if (part > end || part < end - parts) return false;
                    work->taken[part].fetch_add(1, std::memory_order_relaxed);
                    work->copied[part] = 3 * part + 1;
                    work->lane.finish();
                }
                wait([&] { return work->lane.all_finished(end); });
                for (std::uint64_t part = end - parts; part < end; ++part)
                    if (work->copied[part] != 3 * part + 1) return false;
            }
            return true;
        });
    for (Child& child : children) EXPECT_TRUE(child.agrees());
    for (std::uint64_t part = 0; part < transfers * parts; ++part)
        ASSERT_EQ(work->taken[part].load(), 1) << "part " << part;
    EXPECT_EQ(work->lane.claimed.load(), transfers * parts);
    EXPECT_EQ(work->lane.finished.load(), transfers * parts);
    EXPECT_FALSE(work->lane.all_finished(transfers * parts + 1));
}

TEST(Lane, WhatIsClosedIsTakenByNobody) {
    Lane lane;
    constexpr std::uint64_t end = 5;
    EXPECT_EQ(lane.claim(end), 0U);
    EXPECT_EQ(lane.claim(end), 1U);
    EXPECT_EQ(lane.close(end), 2U);
    EXPECT_EQ(lane.close(end), 2U);
    EXPECT_EQ(lane.claim(end), end);
}

TEST(Lane, OnlyTheUseThatIsBrokenOffIsBroken) {
    Lane lane;
    lane.break_off(2, "the first words");
    lane.break_off(2, "other words");
    lane.break_off(1, "words of an earlier use");
    EXPECT_TRUE(lane.broken(2));
    EXPECT_STREQ(lane.words.data(), "the first words");
    EXPECT_FALSE(lane.broken(1) || lane.broken(3) || lane.touched(3));
    lane.break_off(3, "later");
    EXPECT_TRUE(lane.broken(3) && lane.touched(3));
    EXPECT_STREQ(lane.words.data(), "later");
}

TEST(Lane, IsUsedAgainWithItsCounters) {
    auto end = take_lane();
    const Lane* const lane = end->lane;
    const auto other = take_lane();
    EXPECT_NE(other->lane, lane);
    constexpr std::uint64_t uses = 100;
    const Progress first = end->progress;

    // The other end maps the place it is told, and counts from where the maker stands.
    Child receiver([&, place = end->place] {
        const auto memory = map(place);
        if (memory == nullptr) return false;
        Lane& there = *std::launder(reinterpret_cast<Lane*>(memory.get()));
        for (std::uint64_t said = first.said + 1; said <= first.said + uses; ++said) {
            wait([&] { return there.forward.heard(said); });
            there.back.say(said, there.forward.words(said));
        }
        return true;
    });
    std::uint64_t answered = 0;
    for (std::uint64_t use = 1; use <= uses; ++use) {
        const std::uint64_t said = ++end->progress.said;
        end->lane->forward.say(said, said_by(0, said));
        const double until = port::seconds() + limit;
        wait([&] { return end->lane->back.heard(said) || port::seconds() > until; });
        ASSERT_TRUE(end->lane->back.heard(said));
        if (end->lane->back.words(said) == said_by(0, said)) ++answered;
        give_back(std::move(end));
        end = take_lane();
        ASSERT_EQ(end->lane, lane);
        ASSERT_EQ(end->progress.said, said);
    }
    EXPECT_EQ(answered, uses);
    EXPECT_TRUE(receiver.agrees());
    give_back(std::move(end));
}

TEST(Lane, KeepsItsRingUnlessALargerIsWanted) {
    const auto end = take_lane();
    std::byte* const ring = end->ring_of(std::int64_t{1} << 16);
    ASSERT_NE(ring, nullptr);
    EXPECT_TRUE(place_of(ring));
    EXPECT_EQ(end->ring_of(100), ring);
    EXPECT_EQ(end->ring_bytes, std::int64_t{1} << 16);
    const std::byte* const larger = end->ring_of(std::int64_t{1} << 20);
    EXPECT_TRUE(place_of(larger + (1 << 20) - 1));
    EXPECT_EQ(end->ring_bytes, std::int64_t{1} << 20);
}

}  // namespace
}  // namespace hocket::shm
