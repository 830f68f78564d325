// SPDX-License-Identifier: BSD-3-Clause
// Streams of payloads under the model checker, which must also find errors in broken ones.
#include <gtest/gtest.h>

#include "shm/flag_stream.hpp"
#include "unit/shm/model.hpp"

namespace hocket::shm::flag_stream_model_test {
namespace {

using model::Atomic;
using model::AtomicWithoutAcquire;
using model::AtomicWithoutRelease;
using model::Model;
using model::Result;

constexpr std::size_t cells = 2, count = 1;

/// A writer of five payloads, and their reader. `heeds`: the writer waits until it may write.
template <template <class> class Atomic>
Result check(bool heeds = true) {
    using Memory = BasicStreamMemory<Atomic, cells>;
    Model model;
    Memory writers, readers;
    constexpr std::uint64_t payloads = 5;
    return model.check({[&] {
                            BasicFlagStream<Atomic, cells> stream{&writers, &readers};
                            for (std::uint64_t k = 1; k <= payloads; ++k) {
                                // Else the writer knows without a load.
                                if (heeds && stream.published - stream.known_taken == cells)
                                    model.wait([&] { return stream.writable(); });
                                stream.publish({k}, count);
                            }
                        },
                        [&] {
                            BasicFlagStream<Atomic, cells> stream{&readers, &writers};
                            for (std::uint64_t k = 1; k <= payloads; ++k) {
                                model.wait([&] { return stream.readable(); });
                                model.require(stream.take(count)[0] == k, "another payload");
                            }
                        }});
}

TEST(FlagStreamModel, EachPayloadArrivesOnceInOrder) {
    const Result result = check<Atomic>();
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.races, 0u);
    EXPECT_GT(result.ends, 0u);
    EXPECT_GT(result.states, 20u);
}

TEST(FlagStreamModel, WithoutOrderItBreaks) {
    EXPECT_NE(check<AtomicWithoutRelease>().violation, "");
    EXPECT_NE(check<AtomicWithoutAcquire>().violation, "");
}

TEST(FlagStreamModel, AWriterThatDoesNotWaitIsFound) {
    EXPECT_NE(check<Atomic>(false).violation, "");
}

}  // namespace
}  // namespace hocket::shm::flag_stream_model_test
