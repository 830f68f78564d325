// SPDX-License-Identifier: BSD-3-Clause
// Seconds a step: inserted, ordered and run; all must give the sum of a sequential program.
// `--point DEPENDENCES WORKERS`, as `--point 2 2`. `--grain ADDITIONS WORKERS`: the gain of further
// workers for steps of so many additions. `--idle WORKERS`: the cost of an idle agent. `--waits
// WORKERS`: steps that wait in their middle, beside steps that do not.
#include "hocket/flow.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "flow_work.hpp"
#include "harness.hpp"
#include "hocket/binding.hpp"

namespace {

using hocket_bench::Cell;
using hocket_bench::Contestant;
using hocket_bench::quoted;
using hocket_bench::Work;

hocket::Region region(Cell& cell) {
    return {&cell.value, sizeof cell.value};
}

Contestant ours(const Work& like, int workers, const std::string& name = "hocket::Flow") {
    auto work = std::make_shared<Work>(like);
    hocket::FlowOptions options;
    options.workers = workers;
    auto flow = std::make_shared<hocket::Flow>(options);
    return contestant(name, work, [work, flow] {
        for (int i = 0; i < work->steps; ++i) {
            if (work->dependences == 0)
                flow->task([&w = *work, i] { w.run(i); }, {});
            else if (work->dependences == 1)
                flow->task([&w = *work, i] { w.run(i); }, {hocket::updates(region(work->own(i)))});
            else
                flow->task([&w = *work, i] { w.run(i); }, {hocket::updates(region(work->own(i))),
                                                           hocket::reads(region(work->other(i)))});
        }
        flow->wait();
    });
}

/// An operation that is done at once.
class Done final : public hocket::Operation {
  public:
    bool poll() override { return true; }
    std::string text() const override { return "nothing"; }
};

/// As `ours` without dependences, but each step waits once, by `insert(flow, run)`.
template <class Insert>
Contestant waiting(const Work& like, int workers, const std::string& name, Insert insert) {
    auto work = std::make_shared<Work>(like);
    hocket::FlowOptions options;
    options.workers = workers;
    options.agent = hocket::Agent::between_steps;
    auto flow = std::make_shared<hocket::Flow>(options);
    return contestant(name, work, [work, flow, insert] {
        for (int i = 0; i < work->steps; ++i) insert(*flow, *work, i);
        flow->wait();
    });
}

void measure_waits(int workers, const hocket_bench::Effort& effort) {
    const Work work{0};
    static const auto done = std::make_shared<Done>();
    std::vector<Contestant> all{
        ours(work, workers, "a step"),
        waiting(work, workers, "a coroutine",
                [](hocket::Flow& flow, Work& its, int i) {
                    flow.task(
                        [&its, i]() -> hocket::Coroutine<> {
                            co_await done;
                            its.run(i);
                        },
                        {});
                }),
        waiting(work, workers, "a stack of its own", [](hocket::Flow& flow, Work& its, int i) {
            flow.blocking_task(
                [&its, i] {
                    hocket::flow::pause_for(*done);
                    its.run(i);
                },
                {});
        })};
    hocket_bench::Question question;
    question.baseline = {"a step"};
    question.parameters = {{"step", quoted("waits once in its middle")},
                           {"workers", std::to_string(workers)},
                           {"steps", std::to_string(work.steps)}};
    hocket_bench::measure(question, all, {}, effort, work.steps);
}

/// Adds the peers, and measures.
void measure(hocket_bench::Question question, std::vector<Contestant> all, const Work& work,
             int workers, const hocket_bench::Effort& effort) {
    for (auto& peer : hocket_bench::flow_peers(work, workers)) {
        question.baseline.push_back(peer.name);
        all.push_back(std::move(peer));
    }
    question.parameters.emplace_back("workers", std::to_string(workers));
    question.parameters.emplace_back("steps", std::to_string(work.steps));
    hocket_bench::measure(question, all, {}, effort, work.steps);
}

void measure_grain(int rounds, int workers, const hocket_bench::Effort& effort) {
    // For some tens of milliseconds, at a few nanoseconds an addition.
    constexpr int additions = 10'000'000, most = 20000, fewest = 200;
    const Work work{1, rounds, std::clamp(additions / rounds, fewest, most)};
    auto loop = std::make_shared<Work>(work);
    std::vector<Contestant> all{ours(work, workers), ours(work, 1, "hocket::Flow, 1 worker"),
                                contestant("a loop", loop, [loop] { loop->run_all(); })};
    hocket_bench::Question question;
    question.limit = {"a loop"};
    question.parameters = {{"step", quoted("of so many additions")},
                           {"additions", std::to_string(rounds)}};
    measure(std::move(question), std::move(all), work, workers, effort);
}

void run(int argc, char** argv) {
    const auto arguments = hocket_bench::parse(argc, argv);
    const auto& rest = arguments.rest;
    if (rest.size() == 2 && rest[0] == "--idle") {
        hocket_bench::describe("hocket_bench_flow", {});
        hocket_bench::measure_idle_agent(std::stoi(rest[1]), arguments.effort);
        return;
    }
    if (rest.size() == 2 && rest[0] == "--waits") {
        hocket_bench::describe("hocket_bench_flow", {});
        measure_waits(std::stoi(rest[1]), arguments.effort);
        return;
    }
    if (rest.size() != 3 || (rest[0] != "--point" && rest[0] != "--grain"))
        throw std::invalid_argument(
            "usage: --point DEPENDENCES WORKERS, --grain ADDITIONS WORKERS, --waits WORKERS, or "
            "--idle WORKERS");
    const int number = std::stoi(rest[1]), workers = std::stoi(rest[2]);
    hocket_bench::describe("hocket_bench_flow", {});
    if (rest[0] == "--grain") {
        measure_grain(number, workers, arguments.effort);
        return;
    }
    const Work work{number};
    hocket_bench::Question question;
    question.parameters = {{"step", quoted("insert, order, run")},
                           {"dependences", std::to_string(number)}};
    measure(std::move(question), {ours(work, workers)}, work, workers, arguments.effort);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hocket_bench_flow: %s\n", error.what());
        return 1;
    }
}
