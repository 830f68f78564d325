// SPDX-License-Identifier: BSD-3-Clause
// Insertion of steps.
#include <algorithm>
#include <string>

#include "flow/state.hpp"

namespace hocket::flow {

Body& Body::operator=(Body&& other) noexcept {
    if (this != &other) {
        reset();
        take(other);
    }
    return *this;
}

Scope& State::scope_here() {
    const ThreadContext& here = thread_context();
    if (here.state != this || here.step == nullptr) return top;
    auto& extras = here.step->more();
    if (!extras.inner) extras.inner = std::make_shared<Scope>(here.step, options.record);
    return *extras.inner;
}

Scope& State::scope_to_wait_in() {
    const ThreadContext& here = thread_context();
    if (here.state == this && here.step != nullptr && here.step->communicates)
        throw Error(here.step->text() + " communicates, and waits for the flow; it may not");
    return scope_here();
}

static std::string kind_of(bool communicates) {
    return communicates ? "a step that communicates" : "a step that waits in its middle";
}

void State::insert(Body&& body, std::span<const Access> accesses, StepOptions&& its,
                   bool communicates) {
    const ThreadContext& here = thread_context();
    if (here.state == this && here.step != nullptr && here.step->communicates)
        throw Error(here.step->text() +
                    " communicates, and inserts a step; only steps that compute may");
    const bool waits = communicates || body.suspends();
    for (const Access& access : accesses) {
        if (access.kind == Access::Kind::commute && waits)
            throw Error(
                kind_of(communicates) + " cannot commute: of two that have " +
                access.region.text() +
                " in turn, the one that begins may wait for a message that another process sends "
                "only after the other one; let it update the region, in the order of the program");
        if (access.kind != Access::Kind::reduce) continue;
        if (access.reduction == nullptr)
            throw Error("a step reduces into " + access.region.text() +
                        " without a reduction; say how parts become one");
        if (waits)
            throw Error(kind_of(communicates) +
                        " cannot reduce, as its operations end later; let an ordinary step that "
                        "computes do it");
    }
    if (its.threads < 0 || its.threads > base::most_threads)
        throw Error("a step is to have " + std::to_string(its.threads) +
                    " threads; give from 1 to " + std::to_string(base::most_threads) +
                    ", or 0 for as many as its flow says");
    Scope& scope = scope_here();
    if (scope.has_unfinished(options.window))
        help({scope, "room for another step", options.window / 2}, {});
    if (waits || processors) agent->join_engine(agent);
    Step* step = nullptr;
    std::vector<std::uint64_t> earlier;
    {
        const std::lock_guard lock(scope.inserting);
        step = &scope.make();
        step->body = std::move(body);
        step->communicates = communicates;
        step->priority = its.priority;
        step->threads =
            static_cast<std::int16_t>(its.threads == 0 ? threads : std::min(its.threads, workers));
        step->set_name(std::move(its.name));
        step->number = numbers.fetch_add(1, std::memory_order_relaxed);
        scope.enter();
        scope.order(*step, accesses, [&](const Ref& ref) {
            if (recorder) earlier.push_back(ref.step->number);
        });
    }
    if (options.check)
        for (const Access& access : accesses)
            if (access.kind == Access::Kind::read && !access.region.is_key() &&
                std::none_of(accesses.begin(), accesses.end(), [&](const Access& other) {
                    return other.kind != Access::Kind::read && other.region.overlaps(access.region);
                }))
                step->more().inputs.push_back(access.region);
    if (recorder) recorder->inserted(step->number, step->name, communicates, std::move(earlier));
    if (step->waits.fetch_sub(1, std::memory_order_acq_rel) == 1) ready(*step, worker_here());
}

}  // namespace hocket::flow
