// SPDX-License-Identifier: BSD-3-Clause
// A step, from its insertion to its end.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/trace.hpp"
#include "hocket/error.hpp"
#include "hocket/flow.hpp"

namespace hocket::flow {

struct Step;
class Scope;
class Record;

/// From a step to one that waits for it. Part of the waiting step.
struct Edge {
    Edge* next = nullptr;
    Step* to = nullptr;
};

/// A reference to a step. It is valid while the generations agree; ended steps' memory is reused.
struct Ref {
    Step* step = nullptr;
    std::uint64_t generation = 0;
};

/// Members that only some steps need.
struct StepExtras {
    std::deque<Edge> edges;             // beyond the first ones
    std::vector<Record*> locks;         // of regions on which it commutes
    std::vector<Access> reductions;     // in the order of its accesses
    std::vector<Record*> reduced;       // their records
    std::vector<Region> inputs;         // for FlowOptions::check
    std::vector<std::uint64_t> before;  // their digests
    std::shared_ptr<Scope> inner;       // the nested steps
    Operations operations;              // under way
    std::shared_ptr<Suspended> rest;    // of a computing step that waits in its middle
    int worker = 0;                     // that ran its last part
    double began = 0;
    trace::Track track;
};

/// The cache lines of a step move from the inserting core to the running core and back, which
/// dominates the cost of a short step. So a usual step, with few dependences and a small function,
/// fits into the first two.
struct alignas(64) Step {
    std::atomic<Edge*> successors{nullptr};  // `ended_mark()` once it has ended
    std::atomic<int> waits{0};               // number of awaited steps, plus one until it is
                                             // inserted
    std::atomic<bool> stopped{false};        // an awaited step has failed
    bool failed = false;                     // it has failed, or was stopped; set before it ends
    bool communicates = false;
    std::uint8_t edges_used = 0;
    int priority = 0;
    std::int16_t threads = 1;  // of its kernels
    bool named = false;
    std::uint64_t generation = 0;
    std::uint64_t number = 0;  // in the order of insertion
    Scope* scope = nullptr;
    Step* next = nullptr;  // in a list of the scope's
    std::unique_ptr<StepExtras> extras;

    std::array<Edge, 2> first_edges;
    Body body;
    std::array<Edge, 4> more_edges;
    std::string name;

    static Edge* ended_mark() {
        static Edge mark;
        return &mark;
    }
    bool ended() const { return successors.load(std::memory_order_acquire) == ended_mark(); }
    Edge& new_edge() {
        constexpr std::size_t first = 2, all = 6;
        const std::size_t at = edges_used;
        if (at == all) return more().edges.emplace_back();
        ++edges_used;
        return at < first ? first_edges[at] : more_edges[at - first];
    }
    void set_name(std::string&& its) {
        named = !its.empty();
        if (named) name = std::move(its);
    }
    /// Prefetches the step for writing.
    void expect() const {
        const auto* const place = reinterpret_cast<const char*>(this);
        __builtin_prefetch(place, 1);
        __builtin_prefetch(place + 64, 1);
    }
    StepExtras& more() {
        if (!extras) extras = std::make_unique<StepExtras>();
        return *extras;
    }
    /// The rest of a computing step that has begun and has not ended; nullptr: none.
    Suspended* rest() const { return extras ? extras->rest.get() : nullptr; }
    /// Prefetches a waiting step by its edge, which is usually in the second cache line.
    static void expect(const Edge* edge) {
        if (edge == nullptr) return;
        const auto* const place = reinterpret_cast<const char*>(edge);
        __builtin_prefetch(place, 1);
        __builtin_prefetch(place - 64, 1);
    }
    /// Stores digests of its inputs before it runs, for FlowOptions::check.
    void note_inputs() {
        if (!extras) return;
        for (const Region& region : extras->inputs) extras->before.push_back(region.digest());
    }
    /// @throws Error, with a message that begins with `what`, if the inputs have changed.
    void check_inputs(const char* what) const {
        for (std::size_t i = 0; extras && i < extras->before.size(); ++i)
            if (extras->inputs[i].digest() != extras->before[i])
                throw Error(std::string(what) + " (" + extras->inputs[i].text() +
                            "); declare that it updates it");
    }
    /// "step 'update'", "step 17".
    std::string text() const {
        return named ? "step '" + name + "'" : "step " + std::to_string(number);
    }
};
static_assert(offsetof(Step, first_edges) == 64);

}  // namespace hocket::flow
