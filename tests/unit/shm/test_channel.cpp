// SPDX-License-Identifier: BSD-3-Clause
// Flags and channels between processes: plain forks, which inherit the shared memory.
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

#include "base/platform.hpp"
#include "shm/channel.hpp"
#include "shm/mapping.hpp"
#include "unit/watched.hpp"

namespace hocket::shm::channel_test {
namespace {

using testing::by_sanitizer;

constexpr unsigned limit = 100;  // seconds; a process that waits longer is ended

// How many rounds there are. On a machine that others use a round may take a slice of the
// scheduler's: who says first ends them early then, before it says the last.
class Rounds {
  public:
    explicit Rounds(std::uint64_t most) : last_(most) {}
    bool go_on(std::uint64_t sequence) const { return sequence <= last_.load(); }
    void leader_begins(std::uint64_t sequence) {
        if (sequence % 256 == 0 && Clock::now() - began_ > std::chrono::seconds(4))
            last_.store(sequence);
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
            platform::yield();
        else
            platform::pause();
    }
}

Payload said_by(std::uint64_t process, std::uint64_t sequence) {
    Payload words{};
    for (std::size_t i = 0; i < payload_words; ++i)
        words[i] = (sequence * 0x9e3779b97f4a7c15u) ^ (process << 8 | i);
    return words;
}

struct Conversation {
    explicit Conversation(std::uint64_t most) : rounds(most) {}
    Rounds rounds;
    Channel channel;
};

// Publishes and observes half of all payloads each; false at the first wrong payload.
bool ping_pong(Rounds& rounds, Flag& mine, const Flag& other, std::uint64_t me) {
    for (std::uint64_t sequence = 1; rounds.go_on(sequence); ++sequence) {
        if (me == 0) rounds.leader_begins(sequence);
        if (me == 0) mine.publish(sequence, said_by(me, sequence));
        wait([&] { return other.observed(sequence); });
        if (other.payload(sequence) != said_by(1 - me, sequence)) return false;
        if (me == 1) mine.publish(sequence, said_by(me, sequence));
    }
    return true;
}

TEST(Channel, AMillionSayingsAnswered) {
    const auto both = shared<Conversation>(by_sanitizer(500'000, 100'000));
    Channel& channel = both->channel;
    Child one([&] { return ping_pong(both->rounds, channel.back, channel.forward, 1); });
    Child zero([&] { return ping_pong(both->rounds, channel.forward, channel.back, 0); });
    EXPECT_TRUE(zero.agrees());
    EXPECT_TRUE(one.agrees());
}

TEST(Channel, AMillionSayingsTwoAhead) {
    const auto both = shared<Conversation>(by_sanitizer(1'000'000, 200'000));
    Rounds& rounds = both->rounds;
    Channel& channel = both->channel;
    Child receiver([&] {
        for (std::uint64_t sequence = 1; rounds.go_on(sequence); ++sequence) {
            wait([&] { return channel.forward.observed(sequence); });
            if (channel.forward.payload(sequence) != said_by(0, sequence)) return false;
            channel.back.publish(sequence, {}, 0);
        }
        return true;
    });
    Child sender([&] {
        for (std::uint64_t sequence = 1; rounds.go_on(sequence); ++sequence) {
            if (sequence > 2) wait([&] { return channel.back.observed(sequence - 2); });
            rounds.leader_begins(sequence);
            channel.forward.publish(sequence, said_by(0, sequence));
        }
        return true;
    });
    EXPECT_TRUE(sender.agrees());
    EXPECT_TRUE(receiver.agrees());
}

TEST(Channel, RoundsOfThreeProcesses) {
    struct Team {
        Rounds rounds{by_sanitizer(50'000, 10'000)};
        Flag voices[3];
    };
    const auto team = shared<Team>();
    std::vector<Child> children;
    for (std::uint64_t me = 0; me < 3; ++me)
        children.emplace_back([&, me] {
            for (std::uint64_t sequence = 1; team->rounds.go_on(sequence); ++sequence) {
                if (me == 0) team->rounds.leader_begins(sequence);
                team->voices[me].publish(sequence, said_by(me, sequence));
                for (std::uint64_t other = 0; other < 3; ++other) {
                    const Flag& flag = team->voices[other];
                    wait([&] { return flag.observed(sequence); });
                    if (flag.payload(sequence) != said_by(other, sequence)) return false;
                }
            }
            return true;
        });
    for (Child& child : children) EXPECT_TRUE(child.agrees());
}

TEST(Channel, EachPartIsClaimedOnce) {
    constexpr std::uint64_t transfers = 300;
    constexpr std::uint64_t parts = 257;
    struct Work {
        Channel channel;
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
                for (std::uint64_t part; (part = work->channel.claim(end)) != end;) {
                    if (part > end || part < end - parts) return false;
                    work->taken[part].fetch_add(1, std::memory_order_relaxed);
                    work->copied[part] = 3 * part + 1;
                    work->channel.finish();
                }
                wait([&] { return work->channel.all_finished(end); });
                for (std::uint64_t part = end - parts; part < end; ++part)
                    if (work->copied[part] != 3 * part + 1) return false;
            }
            return true;
        });
    for (Child& child : children) EXPECT_TRUE(child.agrees());
    for (std::uint64_t part = 0; part < transfers * parts; ++part)
        ASSERT_EQ(work->taken[part].load(), 1) << "part " << part;
    EXPECT_EQ(work->channel.claimed.load(), transfers * parts);
    EXPECT_EQ(work->channel.finished.load(), transfers * parts);
    EXPECT_FALSE(work->channel.all_finished(transfers * parts + 1));
}

TEST(Channel, WhatIsClosedIsTakenByNobody) {
    Channel channel;
    constexpr std::uint64_t end = 5;
    EXPECT_EQ(channel.claim(end), 0U);
    EXPECT_EQ(channel.claim(end), 1U);
    EXPECT_EQ(channel.close(end), 2U);
    EXPECT_EQ(channel.close(end), 2U);
    EXPECT_EQ(channel.claim(end), end);
}

TEST(Channel, OnlyTheUseThatIsBrokenOffIsBroken) {
    Channel channel;
    channel.abort_use(2, "the first words");
    channel.abort_use(2, "other words");
    channel.abort_use(1, "words of an earlier use");
    EXPECT_TRUE(channel.aborted(2));
    EXPECT_STREQ(channel.words.data(), "the first words");
    EXPECT_FALSE(channel.aborted(1) || channel.aborted(3) || channel.abort_begun(3));
    channel.abort_use(3, "later");
    EXPECT_TRUE(channel.aborted(3) && channel.abort_begun(3));
    EXPECT_STREQ(channel.words.data(), "later");
}

TEST(Channel, IsUsedAgainWithItsCounters) {
    auto channel = acquire_channel();
    const Channel* const first_channel = channel.get();
    const auto other = acquire_channel();
    EXPECT_NE(other, channel);
    constexpr std::uint64_t uses = 100;
    ChannelCounters counters = channel->counters;

    // The other end maps the given address, and counts from the maker's position.
    Child receiver([&, first = counters.published, address = channel->address] {
        const auto memory = map(address);
        if (memory == nullptr) return false;
        Channel& there = *std::launder(reinterpret_cast<Channel*>(memory.get()));
        for (std::uint64_t published = first + 1; published <= first + uses; ++published) {
            wait([&] { return there.forward.observed(published); });
            there.back.publish(published, there.forward.payload(published));
        }
        return true;
    });
    std::uint64_t answered = 0;
    for (std::uint64_t use = 1; use <= uses; ++use) {
        const std::uint64_t published = ++counters.published;
        channel->forward.publish(published, said_by(0, published));
        const double until = platform::seconds() + limit;
        wait([&] { return channel->back.observed(published) || platform::seconds() > until; });
        ASSERT_TRUE(channel->back.observed(published));
        if (channel->back.payload(published) == said_by(0, published)) ++answered;
        release_channel(std::move(channel), counters);
        channel = acquire_channel();
        ASSERT_EQ(channel.get(), first_channel);
        ASSERT_EQ(channel->counters.published, published);
    }
    EXPECT_EQ(answered, uses);
    EXPECT_TRUE(receiver.agrees());
    release_channel(std::move(channel), counters);
}

}  // namespace
}  // namespace hocket::shm::channel_test
