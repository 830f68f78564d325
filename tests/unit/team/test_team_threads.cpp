// SPDX-License-Identifier: BSD-3-Clause
// Threads as the processes of teams: the teams themselves, on memory that the threads share, where
// ThreadSanitizer sees what it cannot see of processes (`make soak`).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/platform.hpp"
#include "comm/engine.hpp"
#include "hocket/error.hpp"
#include "hocket/team.hpp"
#include "team/root.hpp"

namespace hocket::team {
namespace {

TeamOptions in_time() {
    TeamOptions options;
    options.deadline = Deadline::in(300.0);  // else a word that is lost is waited for in vain
    return options;
}

/// Common to the threads.
struct Room {
    std::vector<Arena> arenas;
    // Not atomic: what a round makes visible of other memory.
    std::vector<std::uint64_t> plain;
    std::atomic<int> wrong{0}, done{0};
    // Fewer rounds where each yield takes a slice of the scheduler's, as others use the machine.
    std::atomic<int> last{-1};
    const double until = platform::seconds() + 10;

    explicit Room(std::size_t size) : plain(size, 0) {
        for (std::size_t i = 0; i < size; ++i) arenas.emplace_back(size);
    }
    int size() const { return static_cast<int>(arenas.size()); }
};

Team team_of(const Room& room, int me) {
    auto root = std::make_shared<Root>(me, room.arenas);
    auto everyone = root->everyone();
    return {std::move(root), std::move(everyone)};
}

/// Runs `part` for each process, on a thread of its own.
void as_threads(Room& room, const std::function<void(const Team&, int)>& part) {
    auto& engine = comm::Engine::instance();
    engine.add_node_processes(64);  // more than there are cores: whoever waits yields
    engine.expect_threads(room.size());
    std::vector<std::thread> threads;
    for (int me = 0; me < room.size(); ++me)
        threads.emplace_back([&room, &part, me] {
            try {
                part(team_of(room, me), me);
                ++room.done;
            } catch (const std::exception& error) {
                ADD_FAILURE() << "process " << me << ": " << error.what();
            }
        });
    for (std::thread& thread : threads) thread.join();
    engine.expect_threads(-room.size());
    EXPECT_EQ(room.done.load(), room.size());
    EXPECT_EQ(room.wrong.load(), 0);
}

Mask random_mask(std::mt19937& random, int size) {
    Mask mask;
    while (mask.count() == 0)
        for (int p = 0; p < size; ++p)
            if (random() % 2 == 0) mask.add(p);
    return mask;
}

/// One operation of a team, with values that all can compute.
class Operations {
  public:
    Operations(const Team& team, std::int64_t salt)
        : team_(team), members_(team.mask().processes()), salt_(salt), me_(team.process()) {}

    /// Whether the result is right.
    bool right(unsigned kind) const {
        const TeamOptions options = in_time();
        const std::int64_t mine = value(me_);
        std::int64_t all = 0, upto = 0, most = 0;
        Mask odd, voters;
        const auto size = members_.size();
        for (std::size_t i = 0; i < size; ++i) {
            const int p = members_[i];
            all += value(p);
            if (p <= me_) upto += value(p);
            most = std::max(most, value(p));
            if (flag(p)) odd.add(p);
            if (vote(i) == me_) voters.add(p);
        }
        const auto member = static_cast<std::size_t>(team_.enumerate());
        const int source = members_[static_cast<std::size_t>(salt_) % size];
        switch (kind) {
            case 0:
                team_.wait(options);
                return true;
            case 1:
                return team_.reduce_add(mine, options) == all;
            case 2:
                return team_.scan_add(mine, options) == upto;
            case 3:
                return team_.waitvec(flag(me_), options) == odd;
            case 4:
                return team_.putget(mine, source, options) == value(source);
            case 5:
                return team_.vote(vote(member), options) == voters;
            case 6:
                return gathered(mine);
            case 7:
                return longest(options);
            default:
                return started(mine, most);
        }
    }
    static constexpr unsigned kinds = 9;

  private:
    std::int64_t value(int p) const { return salt_ * 31 + p; }
    bool flag(int p) const { return (salt_ >> (p % 20) & 1) != 0; }
    int vote(std::size_t member) const {
        return members_[(static_cast<std::size_t>(salt_) + member * 7) % members_.size()];
    }
    bool gathered(std::int64_t mine) const {
        std::vector<std::int64_t> values(static_cast<std::size_t>(team_.size()), -1);
        team_.gather(mine, std::span<std::int64_t>(values), in_time());
        for (int p = 0; p < team_.size(); ++p)
            if (values[static_cast<std::size_t>(p)] != (team_.mask().contains(p) ? value(p) : -1))
                return false;
        return true;
    }
    // Of the longest values, which take two rounds.
    bool longest(const TeamOptions& options) const {
        using Seven = std::array<std::int64_t, 7>;
        Seven mine{};
        mine.fill(value(me_));
        const Seven last = team_.reduce(
            mine, [](const Seven&, const Seven& b) { return b; }, options);
        return last.front() == value(members_.back()) && last.back() == last.front();
    }
    bool started(std::int64_t mine, std::int64_t most) const {
        const TeamResult pending = team_.start({Op::reduce_max, Type::int64, bits_of(mine)});
        wait(*pending.operation(), in_time().deadline);
        return pending.value<std::int64_t>() == most;
    }

    const Team& team_;
    std::vector<int> members_;
    std::int64_t salt_;
    int me_;
};

/// Rounds of random operations of random teams, the same on all.
void rounds(Room& room, const Team& team, int me, int count) {
    std::mt19937 plan(11), late(static_cast<unsigned>(me));
    const auto here = static_cast<std::size_t>(me);
    for (int round = 1; round <= count; ++round) {
        const Mask mask = random_mask(plan, room.size());
        const auto kind = static_cast<unsigned>(plan() % Operations::kinds);
        const auto salt = static_cast<std::int64_t>(plan() % 100000);
        if (round % 16 == 0) {
            room.plain[here] = static_cast<std::uint64_t>(round);
            if (me == 0 && platform::seconds() > room.until) room.last = round;
            team.wait(in_time());
            for (const std::uint64_t seen : room.plain)
                if (seen != static_cast<std::uint64_t>(round)) ++room.wrong;
            team.wait(in_time());  // all have looked before anyone writes again
            if (room.last == round) return;
        }
        if (!mask.contains(me)) continue;
        for (auto i = late() % 64; i > 0; --i) std::atomic_signal_fence(std::memory_order_seq_cst);
        if (late() % 64 == 0) std::this_thread::yield();
        const Team some = team.enqueue(mask);
        if (!Operations(some, salt).right(kind)) ++room.wrong;
    }
    team.wait(in_time());
}

TEST(TeamThreads, Two) {
    Room room(2);
    as_threads(room, [&](const Team& team, int me) { rounds(room, team, me, 3000); });
}

TEST(TeamThreads, FourOfWhichSomeTakePart) {
    Room room(4);
    as_threads(room, [&](const Team& team, int me) { rounds(room, team, me, 3000); });
}

// More than tell each other everything; with leaders of leaders where all take part.
TEST(TeamThreads, Leaders) {
    Room room(35);
    as_threads(room, [&](const Team& team, int me) { rounds(room, team, me, 60); });
}

TEST(TeamThreads, MistakesAndWhoLeaves) {
    Room room(3);
    as_threads(room, [&](const Team& team, int me) {
        for (int round = 0; round < 200; ++round) {
            const bool other = round % 3 == me;
            try {
                if (other) {
                    static_cast<void>(team.all(true, in_time()));
                } else {
                    static_cast<void>(team.any(true, in_time()));
                }
                ++room.wrong;
            } catch (const MismatchError&) {
                if (team.reduce_add(round, in_time()) != 3 * round) ++room.wrong;
            }
        }
        team.wait(in_time());
        if (me == 0) {
            team.exit(7);
            return;
        }
        try {
            team.wait(in_time());
            ++room.wrong;
        } catch (const DeadlineError&) {
            ++room.wrong;
        } catch (const Error& error) {
            if (std::string(error.what()).find("code 7") == std::string::npos) ++room.wrong;
        }
        Mask rest;
        rest.add(1);
        rest.add(2);
        if (team.enqueue(rest).reduce_add(me, in_time()) != 3) ++room.wrong;
    });
}

constexpr Call barrier{Op::wait, Type::boolean, 0, 0};

/// Looks at this operation only, of all that are under way.
bool ended(const TeamResult& result) {
    return result.operation()->poll();
}

// One process has observed all others, sees that one has left meanwhile, and goes on with the
// remaining ones, before another has observed its payload.
TEST(TeamLeaving, WhoGoesOnWaitsForThoseWhoHaveNotLookedYet) {
    Room room(3);
    const Team leaves = team_of(room, 0), hurries = team_of(room, 1), dawdles = team_of(room, 2);
    const TeamResult late = dawdles.start(barrier), soon = hurries.start(barrier);
    EXPECT_TRUE(ended(leaves.start(barrier)));
    EXPECT_TRUE(ended(soon));
    leaves.exit(7);
    const TeamResult vain = hurries.start(barrier);
    EXPECT_THROW(while (!ended(vain)){}, Error);
    Mask rest;
    rest.add(1);
    rest.add(2);
    const Call add{Op::reduce_add, Type::int64, 5, 0};
    const TeamResult sum = hurries.enqueue(rest).start(add);
    EXPECT_FALSE(ended(sum));
    EXPECT_TRUE(ended(late));  // what was said to it is still there
    const TeamResult vain_too = dawdles.start(barrier);
    EXPECT_THROW(while (!ended(vain_too)){}, Error);
    EXPECT_EQ(dawdles.enqueue(rest).reduce_add(std::int64_t{6}, in_time()), 11);
    EXPECT_TRUE(ended(sum));
    EXPECT_EQ(sum.bits(), 11U);
}

// Whoever has spoken in a round and left is not missed in it, however late others are.
TEST(TeamLeaving, OnlyThoseWhoHaveNotSpokenAreMissed) {
    Room room(3);
    const Team leaves = team_of(room, 0), waits = team_of(room, 1), late = team_of(room, 2);
    const TeamResult last = leaves.start(barrier), mine = waits.start(barrier);
    leaves.exit(7);
    const double until = platform::seconds() + 2.5;  // longer than a wait by leaders lasts
    while (platform::seconds() < until) {
        ASSERT_FALSE(ended(mine));
        platform::sleep(0.05);
    }
    EXPECT_TRUE(ended(late.start(barrier)));
    EXPECT_TRUE(ended(mine));
    const TeamResult next = late.start(barrier);
    EXPECT_THROW(while (!ended(next)){}, Error);  // at once, though process 1 has not spoken either
}

}  // namespace
}  // namespace hocket::team
