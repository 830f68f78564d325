// SPDX-License-Identifier: BSD-3-Clause
// Seconds and bytes of one process's part of a plan, BLOCK to CYCLIC(k) in every dimension.
// `--point NAME SHAPE PROCS K`, as `--point peers 40000000000 1000000 4`. No MPI.
#include "hocket/plan.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness.hpp"
#include "hocket/layout.hpp"

namespace {

// Bytes that this program has on its heap, to measure a part. Each allocation begins with its size.
std::atomic<std::int64_t> live{0}, peak{0};
constexpr std::size_t kFront = 64;

void* take(std::size_t bytes) {
    auto* const block = static_cast<std::size_t*>(
        std::aligned_alloc(64, (bytes + 2 * kFront - 1) / kFront * kFront));
    if (block == nullptr) throw std::bad_alloc();
    *block = bytes;
    const auto now =
        live.fetch_add(static_cast<std::int64_t>(bytes)) + static_cast<std::int64_t>(bytes);
    if (now > peak) peak = now;
    return reinterpret_cast<char*>(block) + kFront;
}

void give(void* place) {
    if (place == nullptr) return;
    auto* const block = reinterpret_cast<std::size_t*>(static_cast<char*>(place) - kFront);
    live -= static_cast<std::int64_t>(*block);
    std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
    return take(bytes);
}
void* operator new[](std::size_t bytes) {
    return take(bytes);
}
void operator delete(void* place) noexcept {
    give(place);
}
void operator delete[](void* place) noexcept {
    give(place);
}
void operator delete(void* place, std::size_t) noexcept {
    give(place);
}
void operator delete[](void* place, std::size_t) noexcept {
    give(place);
}

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string json(const std::vector<std::int64_t>& values) {
    std::string text = "[";
    for (const auto value : values) text += (text.size() > 1 ? "," : "") + std::to_string(value);
    return text + "]";
}

/// One side's part: computed by every run, measured by the last one.
struct Weighed {
    const hocket::Layout &source, &destination;
    hocket::Side side;
    std::int64_t rank = 0, held = 0, kept = 0, most = 0;
    std::optional<hocket::plan::Part> part = {};

    void run() {
        part.reset();
        const std::int64_t before = live;
        peak = before;
        part = hocket::Plan(source, destination).part(side, rank);
        kept = live - before;
        most = peak - before;
    }

    std::string check() const {
        if (!part) return "there is no part";
        std::int64_t sum = 0;
        for (const auto& traffic : part->peers()) sum += traffic.elements;
        if (sum == held) return {};
        return "process " + std::to_string(rank) + " holds " + std::to_string(held) +
               " elements and exchanges " + std::to_string(sum);
    }

    Entries extras() const {
        const auto peers = static_cast<std::int64_t>(part->peers().size());
        return {{"peers", std::to_string(peers)},
                {"bytes kept", std::to_string(kept)},
                {"bytes at most", std::to_string(most)},
                {"bytes kept a peer", std::to_string(peers ? kept / peers : 0)}};
    }
};

hocket_bench::Contestant contestant(const std::string& name, hocket::Side side,
                                    const hocket::Layout& source,
                                    const hocket::Layout& destination) {
    const auto& own = side == hocket::Side::source ? source : destination;
    auto weighed = std::make_shared<Weighed>(Weighed{source, destination, side});
    weighed->rank = own.size() / 2;
    weighed->held = 1;
    for (const auto extent : own.local_shape(weighed->rank)) weighed->held *= extent;
    return {name, [weighed] { weighed->run(); }, [weighed] { weighed->part.reset(); },
            [weighed] { return weighed->check(); }, [weighed] { return weighed->extras(); }};
}

/// The cost of making a layout.
hocket_bench::Contestant layouts(const std::string& source, const std::string& destination) {
    auto made = std::make_shared<std::pair<std::optional<hocket::Layout>, hocket::Shape>>();
    return {"both Layouts, from their text",
            [=] {
                made->first = hocket::Layout::parse(source);
                made->second = hocket::Layout::parse(destination).shape();
            },
            [made] { made->first.reset(); },
            [made]() -> std::string {
                return made->first && made->first->shape() == made->second
                           ? ""
                           : "the two layouts are of different shapes";
            },
            [] { return Entries{}; }};
}

/// The numbers of all messages and elements: visits all processes, but not all pairs.
hocket_bench::Contestant totals(const hocket::Layout& source, const hocket::Layout& destination) {
    auto found = std::make_shared<std::pair<std::int64_t, std::int64_t>>();
    return {"message_count and elements_moved",
            [=] {
                // Other strategies have fewer messages, whose elements may travel more than once.
                hocket::plan::Options options;
                options.strategy = "direct";
                const hocket::Plan plan(source, destination, options);
                *found = {plan.message_count(), plan.elements_moved()};
            },
            [found] {
                *found = {0, 0};
            },
            [=]() -> std::string {
                if (found->second == source.num_elements() && found->first >= destination.size())
                    return "";
                return std::to_string(found->first) + " messages carry " +
                       std::to_string(found->second) + " of " +
                       std::to_string(source.num_elements()) + " elements";
            },
            [found] {
                return Entries{{"messages", std::to_string(found->first)}};
            }};
}

/// The choice of the strategy, as for a transfer between two tasks.
hocket_bench::Contestant choice(const hocket::Layout& source, const hocket::Layout& destination) {
    auto chosen = std::make_shared<std::string>();
    return {"Plan and the choice of its strategy",
            [=] {
                hocket::plan::Options options;
                options.model = hocket::plan::Model{};
                *chosen = hocket::Plan(source, destination, options).strategy();
            },
            [chosen] { chosen->clear(); },
            [chosen] { return chosen->empty() ? "no strategy" : std::string(); },
            [chosen] {
                return Entries{{"strategy", hocket_bench::quoted(*chosen)}};
            }};
}

void run(int argc, char** argv) {
    const auto arguments = hocket_bench::parse(argc, argv);
    const auto& rest = arguments.rest;
    if (rest.size() != 4 || rest[0] != "--point")
        throw std::invalid_argument("usage: --point NAME SOURCE DESTINATION, layouts as text");
    const auto source = hocket::Layout::parse(rest[2]);
    const auto destination = hocket::Layout::parse(rest[3]);

    if (arguments.pin) hocket_bench::pin(0);
    hocket_bench::describe("hocket_bench_plan", {});
    hocket_bench::Question question;
    question.parameters = {{"sweep", hocket_bench::quoted(rest[1])},
                           {"shape", json(source.shape())},
                           {"procs", json(source.procs())},
                           {"from", hocket_bench::quoted(source.dist())},
                           {"to", hocket_bench::quoted(destination.dist())},
                           {"to procs", json(destination.procs())}};
    hocket_bench::measure(
        question,
        {contestant("Plan and a source's part", hocket::Side::source, source, destination),
         contestant("Plan and a destination's part", hocket::Side::destination, source,
                    destination),
         layouts(rest[2], rest[3]), totals(source, destination), choice(source, destination)},
        {}, arguments.effort);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hocket_bench_plan: %s\n", error.what());
        return 1;
    }
}
