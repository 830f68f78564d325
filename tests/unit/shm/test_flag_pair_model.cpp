// SPDX-License-Identifier: BSD-3-Clause
// The flags of teams under the model checker: rounds of overlapping groups over pairs of flags, and
// leaders with requests and answers. The checker must also find errors in broken protocols.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "shm/flag_pair.hpp"
#include "unit/shm/model.hpp"

namespace hocket::shm::flag_pair_model_test {
namespace {

using model::Atomic;
using model::AtomicWithoutAcquire;
using model::AtomicWithoutRelease;
using model::Model;
using model::Result;

constexpr std::size_t count = 1;  // words of a payload

Payload word_of(std::uint64_t value) {
    Payload words{};
    words[0] = value;
    return words;
}

/// flags[a][b]: published by a for b.
template <template <class> class Atomic>
struct Voices {
    explicit Voices(std::size_t processes) {
        for (std::size_t i = 0; i < processes; ++i) rows.emplace_back(processes);
    }
    std::deque<std::deque<BasicFlag<Atomic>>> rows;

    std::vector<BasicFlagPair<Atomic>> talks_of(std::size_t me) {
        std::vector<BasicFlagPair<Atomic>> talks(rows.size());
        for (std::size_t other = 0; other < rows.size(); ++other) {
            talks[other].out = &rows[me][other];
            talks[other].in = &rows[other][me];
        }
        return talks;
    }
};

using Group = std::vector<std::size_t>;

/// The value of `process` in the round.
std::uint64_t value_of(std::size_t process, std::size_t round) {
    return 10 * round + process + 1;
}

template <template <class> class Atomic>
Result check_groups(std::size_t processes, const std::vector<Group>& rounds) {
    Model model;
    Voices<Atomic> voices(processes);
    std::vector<Model::Program> programs;
    for (std::size_t me = 0; me < processes; ++me)
        programs.emplace_back([&, me] {
            auto talks = voices.talks_of(me);
            for (std::size_t round = 0; round < rounds.size(); ++round) {
                const Group& group = rounds[round];
                if (std::find(group.begin(), group.end(), me) == group.end()) continue;
                for (const std::size_t other : group)
                    if (other != me) talks[other].publish(word_of(value_of(me, round)), count);
                for (const std::size_t other : group) {
                    if (other == me) continue;
                    model.wait([&] { return talks[other].observed(); });
                    model.require(talks[other].payload(count) == word_of(value_of(other, round)),
                                  "a value of another round");
                }
            }
        });
    return model.check(programs);
}

/// Process 0 leads: the others ask, and it answers with the sum.
template <template <class> class Atomic>
Result check_leader(std::size_t processes, std::size_t rounds) {
    Model model;
    Voices<Atomic> voices(processes);
    const auto sum = [processes](std::size_t round) {
        std::uint64_t all = 0;
        for (std::size_t p = 0; p < processes; ++p) all += value_of(p, round);
        return all;
    };
    std::vector<Model::Program> programs;
    programs.emplace_back([&] {
        auto talks = voices.talks_of(0);
        for (std::size_t round = 0; round < rounds; ++round) {
            std::uint64_t all = value_of(0, round);
            for (std::size_t other = 1; other < processes; ++other) {
                model.wait([&] { return talks[other].requested(); });
                all += talks[other].request_payload(count)[0];
            }
            model.require(all == sum(round), "a question of another round");
            for (std::size_t other = 1; other < processes; ++other)
                talks[other].publish(word_of(all), count);
        }
    });
    for (std::size_t me = 1; me < processes; ++me)
        programs.emplace_back([&, me] {
            auto talks = voices.talks_of(me);
            for (std::size_t round = 0; round < rounds; ++round) {
                talks[0].publish(word_of(value_of(me, round)), count);
                model.wait([&] { return talks[0].observed(); });
                model.require(talks[0].payload(count)[0] == sum(round), "another round's answer");
            }
        });
    return model.check(programs);
}

const std::vector<Group> overlapping = {{0, 1, 2}, {0, 1}, {1, 2}, {0, 1}, {0, 1, 2}};

TEST(FlagPairModel, OverlappingGroupsOfThree) {
    const Result result = check_groups<Atomic>(3, overlapping);
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.races, 0u);
    EXPECT_GT(result.ends, 0u);
    EXPECT_GT(result.states, 100u);
}

TEST(FlagPairModel, GroupsThatShareOneProcessKeepNoOrder) {
    const Result result = check_groups<Atomic>(3, {{0, 1}, {0, 1}, {0, 1}, {1, 2}, {1, 2}, {0, 2}});
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.races, 0u);
    EXPECT_GT(result.ends, 0u);
}

TEST(FlagPairModel, ALeaderIsAskedAndAnswers) {
    for (const std::size_t processes : {2u, 3u}) {
        const Result result = check_leader<Atomic>(processes, 3);
        EXPECT_EQ(result.violation, "");
        EXPECT_EQ(result.races, 0u);
        EXPECT_GT(result.ends, 0u);
    }
}

TEST(FlagPairModel, WithoutOrderItBreaks) {
    EXPECT_NE(check_groups<AtomicWithoutRelease>(2, {{0, 1}, {0, 1}, {0, 1}}).violation, "");
    EXPECT_NE(check_groups<AtomicWithoutAcquire>(2, {{0, 1}, {0, 1}, {0, 1}}).violation, "");
    EXPECT_NE(check_leader<AtomicWithoutRelease>(2, 2).violation, "");
    EXPECT_NE(check_leader<AtomicWithoutAcquire>(2, 2).violation, "");
}

/// A process that does not wait for all before it goes on overwrites payloads that others have not
/// observed.
TEST(FlagPairModel, AProcessThatDoesNotWaitIsFound) {
    Model model;
    Voices<Atomic> voices(2);
    const Result result = model.check({[&] {
                                           auto talks = voices.talks_of(0);
                                           for (std::uint64_t e = 0; e < 3; ++e)
                                               talks[1].publish(word_of(value_of(0, e)), count);
                                       },
                                       [&] {
                                           auto talks = voices.talks_of(1);
                                           for (std::uint64_t e = 0; e < 3; ++e) {
                                               talks[0].publish(word_of(value_of(1, e)), count);
                                               model.wait([&] { return talks[0].observed(); });
                                           }
                                       }});
    EXPECT_NE(result.violation, "");
}

}  // namespace
}  // namespace hocket::shm::flag_pair_model_test
