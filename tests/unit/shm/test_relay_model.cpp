// SPDX-License-Identifier: BSD-3-Clause
// Relays under the model checker: processes in a ring, each of which sends parcels to the next one
// and forwards those that it received, through slots of bounded number. Every order of loads and
// stores ends, once or repeatedly. The checker finds the deadlock where a process has scratch
// memory for fewer parcels than it forwards.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "unit/shm/model.hpp"

namespace hocket::shm::relay_model_test {
namespace {

using model::Atomic;
using model::AtomicWithoutRelease;
using model::Model;
using model::Result;

constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto relaxed = std::memory_order_relaxed;

struct Relay {
    std::size_t processes, parcels, runs, slots, scratch;  // scratch: parcels; 0: for all
};

/// The words that one process writes for its successor and for itself. Each counter has one writer:
/// the part of the executor that sends, or the part that receives.
template <template <class> class Atomic>
struct Process {
    explicit Process(const Relay& relay) : slots(relay.slots), scratch(relay.parcels) {}
    std::deque<Atomic<std::uint64_t>> slots;    // to the successor
    Atomic<std::uint64_t> filled, drained;      // slots: by this process, by its successor
    std::deque<Atomic<std::uint64_t>> scratch;  // parcels to forward
    Atomic<std::uint64_t> unpacked, forwarded;  // parcels of the scratch
    Atomic<std::uint64_t> sent, received;       // runs that have ended here
};

std::uint64_t value_of(std::size_t process, std::size_t parcel, std::size_t run) {
    return 100 * run + 10 * parcel + process + 1;
}

/// A poll runs the sends and the receives of a process in any order, so each part is a program.
template <template <class> class Atomic>
Result check(const Relay& relay) {
    Model model;
    std::deque<Process<Atomic>> all;
    for (std::size_t p = 0; p < relay.processes; ++p) all.emplace_back(relay);
    std::vector<Model::Program> programs;
    for (std::size_t p = 0; p < relay.processes; ++p) {
        Process<Atomic>& here = all[p];
        Process<Atomic>& before = all[(p + relay.processes - 1) % relay.processes];
        programs.emplace_back([&, p] {
            std::uint64_t filled = 0, forwarded = 0;
            const auto send = [&](std::uint64_t value) {
                if (filled >= relay.slots)
                    model.wait([&] { return here.drained.load(acquire) + relay.slots > filled; });
                here.slots[filled % relay.slots].store(value, relaxed);
                here.filled.store(++filled, release);
            };
            for (std::size_t run = 0; run < relay.runs; ++run) {
                if (run > 0) model.wait([&] { return here.received.load(acquire) >= run; });
                for (std::size_t k = 0; k < relay.parcels; ++k) send(value_of(p, k, run));
                for (std::size_t k = 0; k < relay.parcels; ++k) {
                    model.wait([&] { return here.unpacked.load(acquire) > forwarded; });
                    send(here.scratch[k].load(relaxed));
                    here.forwarded.store(++forwarded, release);
                }
                here.sent.store(run + 1, release);
            }
        });
        programs.emplace_back([&, p] {
            const std::size_t first = (p + relay.processes - 1) % relay.processes;
            const std::size_t second = (first + relay.processes - 1) % relay.processes;
            std::uint64_t drained = 0, unpacked = 0;
            const auto receive = [&] {
                model.wait([&] { return before.filled.load(acquire) > drained; });
                return before.slots[drained % relay.slots].load(relaxed);
            };
            const auto release_slot = [&] { before.drained.store(++drained, release); };
            for (std::size_t run = 0; run < relay.runs; ++run) {
                if (run > 0) model.wait([&] { return here.sent.load(acquire) >= run; });
                for (std::size_t k = 0; k < relay.parcels; ++k) {
                    const std::uint64_t value = receive();
                    model.require(value == value_of(first, k, run), "another parcel");
                    if (relay.scratch > 0 && unpacked >= relay.scratch)
                        model.wait([&] {
                            return here.forwarded.load(acquire) + relay.scratch > unpacked;
                        });
                    here.scratch[k].store(value, relaxed);
                    here.unpacked.store(++unpacked, release);
                    release_slot();
                }
                for (std::size_t k = 0; k < relay.parcels; ++k) {
                    model.require(receive() == value_of(second, k, run), "another parcel");
                    release_slot();
                }
                here.received.store(run + 1, release);
            }
        });
    }
    return model.check(programs);
}

void expect_ends(const Relay& relay) {
    const Result found = check<Atomic>(relay);
    EXPECT_EQ(found.violation, "");
    EXPECT_GT(found.ends, 0U);
    EXPECT_EQ(found.races, 0U);
    ::testing::Test::RecordProperty("states", static_cast<int>(found.states));
}

TEST(RelayModel, EveryRunEndsWithScratchForAllParcels) {
    expect_ends({3, 1, 1, 1, 0});
    expect_ends({2, 2, 1, 1, 0});
}

TEST(RelayModel, EveryRunOfAPersistentRelayEnds) {
    expect_ends({2, 1, 2, 1, 0});
    expect_ends({2, 1, 2, 2, 0});
}

TEST(RelayModel, ScratchForFewerParcelsStops) {
    const Result found = check<Atomic>({2, 2, 1, 1, 1});
    EXPECT_NE(found.violation.find("all wait"), std::string::npos) << found.violation;
}

TEST(RelayModel, WithoutReleasesAParcelIsReadBeforeItIsThere) {
    const Result found = check<AtomicWithoutRelease>({2, 1, 1, 1, 0});
    EXPECT_NE(found.violation.find("another parcel"), std::string::npos) << found.violation;
}

}  // namespace
}  // namespace hocket::shm::relay_model_test
