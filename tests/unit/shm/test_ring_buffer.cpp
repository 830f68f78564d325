// SPDX-License-Identifier: BSD-3-Clause
// A ring of words between two: in all orders that memory allows (the model checker), with a ring
// that is full all the time, and on real memory with two threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "base/platform.hpp"
#include "shm/ring_buffer.hpp"
#include "unit/shm/model.hpp"

namespace hocket::shm::ring_buffer_test {
namespace {

using model::Atomic;
using model::AtomicWithoutAcquire;
using model::AtomicWithoutRelease;
using model::Model;
using model::Result;

std::vector<std::uint64_t> counted(std::size_t words) {
    std::vector<std::uint64_t> text(words);
    std::iota(text.begin(), text.end(), 1);
    return text;
}

/// The writer puts so many words, which must come as they went.
template <template <class> class Atomic, std::size_t room>
Result check(std::size_t words) {
    Model model;
    BasicRingBuffer<Atomic, room> post;
    const std::vector<std::uint64_t> text = counted(words);
    return model.check(
        {[&] {
             std::uint64_t gone = 0;
             while (gone < text.size())
                 model.wait([&] { return post.put(gone, std::span(text).subspan(gone)) > 0; });
         },
         [&] {
             std::uint64_t read = 0;
             std::vector<std::uint64_t> come;
             while (read < text.size()) {
                 model.wait([&] { return post.any(read); });
                 post.take(read, words,
                           [&](std::size_t, std::uint64_t word) { come.push_back(word); });
                 model.require(std::equal(come.begin(), come.end(), text.begin()),
                               "other words than those that were put");
             }
         }});
}

TEST(RingBuffer, KeepsWordsInAllOrders) {
    for (const Result& result : {check<Atomic, 1>(3), check<Atomic, 2>(4), check<Atomic, 3>(4)}) {
        EXPECT_EQ(result.violation, "");
        EXPECT_EQ(result.races, 0u);
        EXPECT_GT(result.ends, 0u);
    }
}

TEST(RingBuffer, WithoutOrderItBreaks) {
    EXPECT_NE((check<AtomicWithoutRelease, 2>(4).violation), "");
    EXPECT_NE((check<AtomicWithoutAcquire, 2>(4).violation), "");
}

TEST(RingBuffer, TakesWhatThereIsRoomFor) {
    BasicRingBuffer<std::atomic, 4> post;
    const auto text = counted(6);
    std::vector<std::uint64_t> come;
    std::uint64_t gone = 0, read = 0;
    EXPECT_FALSE(post.any(read));
    EXPECT_EQ(post.put(gone, text), 4u);
    EXPECT_EQ(post.put(gone, text), 0u);
    EXPECT_TRUE(post.any(read));
    const auto append = [&](std::size_t, std::uint64_t word) { come.push_back(word); };
    EXPECT_EQ(post.take(read, 3, append), 3u);
    EXPECT_EQ(post.take(read, 3, append), 1u);
    EXPECT_EQ(post.take(read, 3, append), 0u);
    EXPECT_EQ(post.put(gone, std::span(text).subspan(gone)), 2u);
    EXPECT_EQ(post.take(read, 3, append), 2u);
    EXPECT_FALSE(post.any(read));
    EXPECT_EQ(come, text);
}

TEST(RingBufferThreads, ManyWordsThroughASmallRing) {
    BasicRingBuffer<std::atomic, 7> post;
    auto text = counted(100'000);
    // Fewer where each yield takes a slice of the scheduler's, as others use the machine.
    std::atomic<std::uint64_t> last{text.size()};
    std::vector<std::uint64_t> come;
    std::thread reader([&] {
        const auto append = [&](std::size_t, std::uint64_t word) { come.push_back(word); };
        for (std::uint64_t read = 0; read < last; post.take(read, 5, append))
            while (!post.any(read) && read < last) std::this_thread::yield();
    });
    std::mt19937 random(3);
    const double until = platform::seconds() + 4;
    for (std::uint64_t gone = 0; gone < last;) {
        const std::size_t most = std::min<std::size_t>(random() % 11, text.size() - gone);
        if (post.put(gone, std::span(text).subspan(gone, most)) == 0) std::this_thread::yield();
        if (platform::seconds() > until) last = gone;
    }
    reader.join();
    ASSERT_GT(last, 7u);  // more than there is room for
    text.resize(last);
    EXPECT_EQ(come, text);
}

}  // namespace
}  // namespace hocket::shm::ring_buffer_test
