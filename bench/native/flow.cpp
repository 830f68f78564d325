// SPDX-License-Identifier: BSD-3-Clause
// Seconds a step: inserted, ordered and run; the sum that a sequential program gives is what all
// must give. `--point DEPENDENCES WORKERS`, as `--point 2 2`. `--idle WORKERS`: what an agent costs
// that has nothing to do.
#include "hocket/flow.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "flow_work.hpp"
#include "harness.hpp"

namespace {

using hocket_bench::Cell;
using hocket_bench::Contestant;
using hocket_bench::quoted;
using hocket_bench::steps;
using hocket_bench::Work;

hocket::Region region(Cell& cell) {
    return {&cell.value, sizeof cell.value};
}

Contestant ours(int dependences, int workers) {
    auto work = std::make_shared<Work>(Work{dependences});
    hocket::FlowOptions options;
    options.workers = workers;
    auto flow = std::make_shared<hocket::Flow>(options);
    return contestant("hocket::Flow", work, [work, flow] {
        for (int i = 0; i < steps; ++i) {
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

void run(int argc, char** argv) {
    const auto arguments = hocket_bench::parse(argc, argv);
    const auto& rest = arguments.rest;
    if (rest.size() == 2 && rest[0] == "--idle") {
        hocket_bench::describe("hocket_bench_flow", {});
        hocket_bench::measure_idle_agent(std::stoi(rest[1]), arguments.effort);
        return;
    }
    if (rest.size() != 3 || rest[0] != "--point")
        throw std::invalid_argument("usage: --point DEPENDENCES WORKERS, or --idle WORKERS");
    const int dependences = std::stoi(rest[1]), workers = std::stoi(rest[2]);
    hocket_bench::describe("hocket_bench_flow", {});
    std::vector<Contestant> all{ours(dependences, workers)};
    hocket_bench::Question question;
    for (auto& peer : hocket_bench::flow_peers(dependences, workers)) {
        question.baseline.push_back(peer.name);
        all.push_back(std::move(peer));
    }
    question.parameters = {{"step", quoted("insert, order, run")},
                           {"dependences", std::to_string(dependences)},
                           {"workers", std::to_string(workers)},
                           {"steps", std::to_string(steps)}};
    hocket_bench::measure(question, all, {}, arguments.effort, steps);
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
