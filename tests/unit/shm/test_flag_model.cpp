// SPDX-License-Identifier: BSD-3-Clause
// The flag protocol under a model checker: every order of its users' actions, and every store that
// a load may see. The checker must also find errors in broken protocols.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "shm/flag.hpp"
#include "unit/shm/model.hpp"

namespace hocket::shm::flag_model_test {
namespace {

using model::Atomic;
using model::AtomicWithoutAcquire;
using model::AtomicWithoutRelease;
using model::Model;
using model::Result;

using Number = Atomic<std::uint64_t>;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

constexpr std::size_t count = 2;  // words of a payload

Payload said_by(std::size_t process, std::uint64_t sequence) {
    Payload words{};
    for (std::size_t i = 0; i < count; ++i) words[i] = 100 * process + 10 * sequence + i;
    return words;
}

template <template <class> class Atomic>
void hear(Model& model, const BasicFlag<Atomic>& flag, std::size_t process,
          std::uint64_t sequence) {
    model.wait([&] { return flag.observed(sequence); });
    model.require(flag.payload(sequence, count) == said_by(process, sequence),
                  "words of another epoch");
}

struct Rounds {
    std::size_t processes;
    std::uint64_t rounds;
    std::uint64_t stride = 1;  // of the epochs: with 2, all are of one cell
    bool all = true;           // each observes all others, not only the next
};

// All publish, then observe the others' payloads.
template <template <class> class Atomic>
Result check(const Rounds& what) {
    Model model;
    std::deque<BasicFlag<Atomic>> voices(what.processes);
    std::vector<Model::Program> programs;
    for (std::size_t me = 0; me < what.processes; ++me)
        programs.emplace_back([&, me] {
            for (std::uint64_t round = 1; round <= what.rounds; ++round) {
                const std::uint64_t sequence = round * what.stride;
                voices[me].publish(sequence, said_by(me, sequence), count);
                for (std::size_t i = 1; i < (what.all ? what.processes : 2); ++i) {
                    const std::size_t other = (me + i) % what.processes;
                    hear(model, voices[other], other, sequence);
                }
            }
        });
    return model.check(programs);
}

TEST(FlagModel, RoundsOfTwo) {
    const Result result = check<Atomic>({2, 6});
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.races, 0u);
    EXPECT_GT(result.ends, 0u);
}

TEST(FlagModel, RoundsOfThree) {
    const Result result = check<Atomic>({3, 4});
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.races, 0u);
    EXPECT_GT(result.ends, 0u);
    EXPECT_GT(result.states, 1000u);
}

TEST(FlagModel, RoundsNeedReleaseAndAcquire) {
    for (const std::size_t processes : {2, 3}) {
        EXPECT_NE(check<AtomicWithoutRelease>({processes, 3}).violation, "");
        EXPECT_NE(check<AtomicWithoutAcquire>({processes, 3}).violation, "");
    }
}

TEST(FlagModel, RoundsNeedTwoCells) {
    for (const std::size_t processes : {2, 3})
        EXPECT_NE(check<Atomic>({processes, 3, 2}).violation, "");
}

TEST(FlagModel, RoundsNeedAllToObserveAll) {
    EXPECT_NE(check<Atomic>({3, 4, 1, false}).violation, "");
}

// One publishes, at most `ahead` payloads before the other's acknowledgements, as a channel's ends
// do.
template <template <class> class Forward, template <class> class Back>
Result check_lane(std::uint64_t sayings, std::uint64_t ahead) {
    Model model;
    BasicFlag<Forward> forward;
    BasicFlag<Back> back;
    const auto sender = [&] {
        for (std::uint64_t sequence = 1; sequence <= sayings; ++sequence) {
            if (sequence > ahead) model.wait([&] { return back.observed(sequence - ahead); });
            forward.publish(sequence, said_by(1, sequence), count);
        }
    };
    const auto receiver = [&] {
        for (std::uint64_t sequence = 1; sequence <= sayings; ++sequence) {
            hear(model, forward, 1, sequence);
            back.publish(sequence, {}, 0);
        }
    };
    return model.check({sender, receiver});
}

TEST(FlagModel, ChannelIsTwoAhead) {
    for (const std::uint64_t ahead : {1, 2}) {
        const Result result = check_lane<Atomic, Atomic>(8, ahead);
        EXPECT_EQ(result.violation, "");
        EXPECT_EQ(result.races, 0u);
        EXPECT_GT(result.ends, 0u);
    }
}

TEST(FlagModel, ChannelIsNotThreeAhead) {
    EXPECT_NE((check_lane<Atomic, Atomic>(4, 3).violation), "");
}

TEST(FlagModel, ChannelNeedsReleaseAndAcquire) {
    EXPECT_NE((check_lane<AtomicWithoutRelease, Atomic>(3, 2).violation), "");
    EXPECT_NE((check_lane<AtomicWithoutAcquire, Atomic>(3, 2).violation), "");
    // An answer has no words, but orders the loads before it and the stores after it.
    EXPECT_GT((check_lane<Atomic, AtomicWithoutRelease>(3, 2).races), 0u);
    EXPECT_GT((check_lane<Atomic, AtomicWithoutAcquire>(3, 2).races), 0u);
}

// Long messages over a channel: a request to send, a clear to send, and every other time the
// address of the ring, which is read before the next request, because both sides count copied
// bytes.
TEST(FlagModel, ChannelRequestsAndClearsRings) {
    constexpr std::uint64_t transfers = 6;
    Model model;
    BasicFlag<Atomic> forward;
    BasicFlag<Atomic> back;
    Number copied;
    const auto sender = [&] {
        std::uint64_t published = 0;
        for (std::uint64_t transfer = 1; transfer <= transfers; ++transfer) {
            ++published;
            forward.publish(published, said_by(1, published), count);
            hear(model, back, 2, transfer);
            if (transfer % 2 == 0) {
                ++published;
                forward.publish(published, said_by(1, published), count);
            }
            model.wait([&] { return copied.load(acquire) == transfer; });
        }
    };
    const auto receiver = [&] {
        std::uint64_t published = 0;
        for (std::uint64_t transfer = 1; transfer <= transfers; ++transfer) {
            hear(model, forward, 1, ++published);
            back.publish(transfer, said_by(2, transfer), count);
            if (transfer % 2 == 0) hear(model, forward, 1, ++published);
            copied.store(transfer, release);
        }
    };
    const Result result = model.check({sender, receiver});
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.races, 0u);
    EXPECT_GT(result.ends, 0u);
}

}  // namespace
}  // namespace hocket::shm::flag_model_test
