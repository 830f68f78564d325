// SPDX-License-Identifier: BSD-3-Clause
// The timing harness for contestants without Python in the loop. Same method as
// bench/harness.py, which makes the statistics: this side prints one JSON object a line.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hocket_bench {

/// One contestant: `run` makes a call; `spoil` overwrites its result; `check` returns an error, or
/// nothing. `extras` gives more figures afterwards, as JSON values by name. `absent`: the reason
/// why it cannot run. `prepare`: makes inputs for the next calls, whose number (up to `most_calls`)
/// it gets; not timed.
struct Contestant {
    std::string name;
    std::function<void()> run;
    std::function<void()> spoil;
    std::function<std::string()> check;
    std::function<std::vector<std::pair<std::string, std::string>>()> extras = {};
    std::string absent = {};
    std::function<void(std::int64_t)> prepare = {};
    std::int64_t most_calls = 1'000'000;
};

/// The length of a measurement; see `Effort` in bench/harness.py.
struct Effort {
    int warmup = 2;
    double seconds = 3;
    int min_runs = 5;
    int max_runs = 1000;
    double sample_seconds = 1e-3;
};

/// The processes of a measurement: one process, unless the members are replaced (mpi_group.hpp).
struct Group {
    int rank = 0;
    std::function<void()> barrier = [] {};
    /// Replaces each entry by the largest over the processes.
    std::function<void(std::span<double>)> maximum = [](std::span<double>) {};
    std::function<double()> clock = now;

    static double now();  ///< seconds, monotonic
};

/// The question of one table; see `Question` in bench/record.py.
struct Question {
    std::vector<std::pair<std::string, std::string>> parameters;  ///< name, JSON value
    std::vector<std::string> baseline = {}, limit = {};
    std::int64_t bytes = 0;
};

/// Program arguments: those that `hocket_bench` passes to every program, and the rest.
struct Arguments {
    Effort effort;
    bool pin = false;  ///< bind each process to a core of its own
    std::vector<std::string> rest;
};

/// @throws std::invalid_argument naming the option and the value.
Arguments parse(int argc, char** argv);

/// Binds this process to the `rank`-th of its cores, if there are so many.
void pin(int rank);

/// "1,2,3" @throws std::invalid_argument
std::vector<std::int64_t> parse_list(const std::string& text);

/// A string as JSON.
std::string quoted(const std::string& text);

/// Times the contestants against each other and prints the table; collective over the group.
/// `steps_per_call`: 2 for a ping-pong whose figure is half of it.
void measure(const Question& question, const std::vector<Contestant>& contestants,
             const Group& group, const Effort& effort, int steps_per_call = 1);

/// Prints a description of the program; `about`: name, JSON value.
void describe(const std::string& program,
              const std::vector<std::pair<std::string, std::string>>& about);

}  // namespace hocket_bench
