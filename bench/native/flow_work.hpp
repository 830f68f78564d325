// SPDX-License-Identifier: BSD-3-Clause
// The steps of flows and their peers: each adds to one of many cells, and reads some others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"

namespace hocket_bench {

inline constexpr std::size_t cells = 64;

struct Cell {
    alignas(64) double value = 1;
};

/// The work of a step: adds the others to the first, `dependences` cells in all, `additions` times.
struct Work {
    int dependences;
    int rounds = 1;
    int steps = 20000;
    std::vector<Cell> cell = std::vector<Cell>(cells);
    std::vector<int> own_place =
        std::vector<int>(static_cast<std::size_t>(steps));  // of steps without dependences

    Cell& own(int i) { return cell[static_cast<std::size_t>(i * 7) % cells]; }
    Cell& other(int i) { return cell[static_cast<std::size_t>(i * 7 + 5) % cells]; }
    void run(Cell& to, const Cell& of) const {
        for (int i = 0; i < rounds; ++i) to.value = 0.5 * to.value + 0.25 * of.value + 1;
    }
    void run(int i) {
        if (dependences == 0)
            own_place[static_cast<std::size_t>(i)] = i + 1;
        else
            run(own(i), dependences > 1 ? other(i) : own(i));
    }
    void run_all() {
        for (int i = 0; i < steps; ++i) run(i);
    }
    void spoil() {
        cell.assign(cells, {});
        own_place.assign(own_place.size(), 0);
    }
    std::string check() const {
        for (int i = 0; dependences == 0 && i < steps; ++i)
            if (own_place[static_cast<std::size_t>(i)] != i + 1)
                return "step " + std::to_string(i) + " has not run";
        if (dependences == 0) return "";
        Work sequential{dependences, rounds, steps};
        sequential.run_all();
        for (std::size_t k = 0; k < cells; ++k)
            if (!(cell[k].value == sequential.cell[k].value))
                return "cell " + std::to_string(k) + " is " + std::to_string(cell[k].value) +
                       ", not " + std::to_string(sequential.cell[k].value);
        return "";
    }
};

inline Contestant contestant(const std::string& name, const std::shared_ptr<Work>& work,
                             std::function<void()> run) {
    return {name, std::move(run), [work] { work->spoil(); }, [work] { return work->check(); }};
}

/// GCC's OpenMP, oneTBB and StarPU; the line of a missing one says so.
std::vector<Contestant> flow_peers(const Work& work, int workers);

/// The cost of an idle agent: a program computes on all workers, with and without an operation
/// under way.
void measure_idle_agent(int workers, const Effort& effort);

}  // namespace hocket_bench
