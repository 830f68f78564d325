// SPDX-License-Identifier: BSD-3-Clause
#include "harness.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace hocket_bench {

namespace {

struct Outcome {
    std::vector<double> samples = {};
    std::string error = {};
    std::int64_t calls = 1;
};

/// Whether any process passes true.
bool anyone(const Group& group, bool mine) {
    double flag = mine ? 1 : 0;
    group.maximum(std::span(&flag, 1));
    return flag > 0;
}

/// One call from a spoiled result. Process 0 prints, so it also names errors of other processes.
bool verify(const Contestant& contestant, const Group& group, std::string& error) {
    contestant.spoil();
    if (contestant.prepare) contestant.prepare(1);
    group.barrier();  // no message may arrive before its target is spoiled
    std::string mine;
    try {
        contestant.run();
        mine = contestant.check();
    } catch (const std::exception& thrown) {
        mine = thrown.what();
    }
    if (!anyone(group, !mine.empty())) return true;
    error = mine.empty() ? "wrong result on another process" : "wrong result: " + mine;
    return false;
}

double turn(const Contestant& contestant, const Group& group, std::int64_t calls) {
    if (contestant.prepare) contestant.prepare(calls);
    group.barrier();
    const double start = group.clock();
    for (std::int64_t call = 0; call < calls; ++call) contestant.run();
    return group.clock() - start;
}

std::string number(double value) {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return std::string(text, end);
}

std::string list(const std::vector<std::string>& names) {
    std::string text = "[";
    for (const auto& name : names) text += (text.size() > 1 ? "," : "") + quoted(name);
    return text + "]";
}

std::string object(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string text = "{";
    for (const auto& [name, value] : entries)
        text += (text.size() > 1 ? "," : "") + quoted(name) + ":" + value;
    return text + "}";
}

/// Untimed rounds, which determine the number of calls in a sample; equal on all processes.
void warm_up(const std::vector<Contestant>& contestants, const std::vector<std::size_t>& able,
             std::vector<Outcome>& outcomes, const Group& group, const Effort& effort) {
    std::vector<double> times(able.size());
    std::vector<double> fastest(able.size(), std::numeric_limits<double>::infinity());
    // One more than requested: by then the number of calls is known, and that round warms it up,
    // too.
    for (int round = 0; round <= effort.warmup; ++round) {
        for (std::size_t k = 0; k < able.size(); ++k)
            times[k] = turn(contestants[able[k]], group, outcomes[able[k]].calls);
        group.maximum(times);
        for (std::size_t k = 0; k < able.size(); ++k) {
            auto& calls = outcomes[able[k]].calls;
            fastest[k] = std::min(fastest[k], times[k] / static_cast<double>(calls));
            const double wanted = std::ceil(effort.sample_seconds / std::max(fastest[k], 1e-9));
            const auto most = static_cast<double>(contestants[able[k]].most_calls);
            calls = static_cast<std::int64_t>(std::clamp(wanted, 1.0, most));
        }
    }
}

void run_rounds(const std::vector<Contestant>& contestants, const std::vector<std::size_t>& able,
                std::vector<Outcome>& outcomes, const Group& group, const Effort& effort,
                int steps_per_call) {
    const std::size_t count = able.size();
    std::vector<double> times(count + 1);
    const double began = group.clock();
    for (std::size_t round = 0; round < static_cast<std::size_t>(effort.max_runs); ++round) {
        for (std::size_t k = 0; k < count; ++k) {
            // Rotated, and reversed in every other cycle: predecessors change.
            const std::size_t place = (round / count) % 2 ? count - 1 - k : k;
            const std::size_t which = (round + place) % count;
            times[which] = turn(contestants[able[which]], group, outcomes[able[which]].calls);
        }
        times[count] = group.clock() - began;
        group.maximum(times);
        for (std::size_t k = 0; k < count; ++k) {
            auto& outcome = outcomes[able[k]];
            const double calls = static_cast<double>(outcome.calls);
            outcome.samples.push_back(times[k] / calls / steps_per_call);
        }
        if (round + 1 >= static_cast<std::size_t>(effort.min_runs) &&
            times[count] >= effort.seconds)
            break;
    }
}

}  // namespace

double Group::now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += ' ';  // a line stays a line
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::vector<std::int64_t> parse_list(const std::string& text) {
    std::vector<std::int64_t> values;
    std::stringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        std::int64_t value = 0;
        const char* const end = part.data() + part.size();
        const auto [stop, failure] = std::from_chars(part.data(), end, value);
        if (failure != std::errc() || stop != end || value < 1)
            throw std::invalid_argument("'" + text + "': write whole numbers above 0 as 1,2,3");
        values.push_back(value);
    }
    if (values.empty()) throw std::invalid_argument("an empty list; write numbers as 1,2,3");
    return values;
}

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    auto& effort = arguments.effort;
    for (int k = 1; k < argc; ++k) {
        const std::string option = argv[k];
        if (option == "--pin") {
            arguments.pin = true;
            continue;
        }
        const bool known = option == "--seconds" || option == "--warmup" ||
                           option == "--min-runs" || option == "--max-runs" ||
                           option == "--sample-seconds";
        if (!known) {
            arguments.rest.push_back(option);
            continue;
        }
        const std::string text = k + 1 < argc ? argv[++k] : "";
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, failure] = std::from_chars(text.data(), end, value);
        if (failure != std::errc() || stop != end || !(value >= 0 && value < 1e9))
            throw std::invalid_argument(option + " '" + text + "': write a number from 0 to 1e9");
        if (option == "--seconds") effort.seconds = value;
        if (option == "--sample-seconds") effort.sample_seconds = value;
        if (option == "--warmup") effort.warmup = static_cast<int>(value);
        if (option == "--min-runs") effort.min_runs = static_cast<int>(value);
        if (option == "--max-runs") effort.max_runs = static_cast<int>(value);
    }
    if (effort.warmup < 1 || effort.min_runs < 1 || effort.min_runs > effort.max_runs)
        throw std::invalid_argument("need --warmup >= 1 and 1 <= --min-runs <= --max-runs");
    return arguments;
}

void pin(int rank) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) <= rank) return;
    int left = rank;
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(core, &mine);
        sched_setaffinity(0, sizeof mine, &mine);
        return;
    }
}

void measure(const Question& question, const std::vector<Contestant>& contestants,
             const Group& group, const Effort& effort, int steps_per_call) {
    std::vector<Outcome> outcomes(contestants.size());
    std::vector<std::size_t> able;
    for (std::size_t k = 0; k < contestants.size(); ++k)
        if (contestants[k].absent.empty() && verify(contestants[k], group, outcomes[k].error))
            able.push_back(k);
    if (!able.empty()) {
        warm_up(contestants, able, outcomes, group, effort);
        run_rounds(contestants, able, outcomes, group, effort, steps_per_call);
    }
    for (const auto k : able) verify(contestants[k], group, outcomes[k].error);

    if (group.rank != 0) return;
    std::string figures;
    for (std::size_t k = 0; k < contestants.size(); ++k) {
        const auto& [samples, error, calls] = outcomes[k];
        figures += (k ? ",{" : "{") + quoted("name") + ":" + quoted(contestants[k].name);
        if (!contestants[k].absent.empty()) {
            figures += ",\"absent\":" + quoted(contestants[k].absent) + "}";
            continue;
        }
        if (!error.empty()) {
            figures += ",\"error\":" + quoted(error) + "}";
            continue;
        }
        figures += ",\"calls_per_run\":" + std::to_string(calls) + ",\"samples\":[";
        for (std::size_t s = 0; s < samples.size(); ++s)
            figures += (s ? "," : "") + number(samples[s]);
        figures += "]";
        if (contestants[k].extras) figures += ",\"extras\":" + object(contestants[k].extras());
        figures += "}";
    }
    std::printf(
        "{\"parameters\":%s,\"baseline\":%s,\"limit\":%s,\"bytes\":%lld,\"figures\":[%s]}\n",
        object(question.parameters).c_str(), list(question.baseline).c_str(),
        list(question.limit).c_str(), static_cast<long long>(question.bytes), figures.c_str());
    std::fflush(stdout);
}

void describe(const std::string& program,
              const std::vector<std::pair<std::string, std::string>>& about) {
    std::vector<std::pair<std::string, std::string>> entries{{"program", quoted(program)}};
    entries.insert(entries.end(), about.begin(), about.end());
    std::printf("%s\n", object(entries).c_str());
    std::fflush(stdout);
}

}  // namespace hocket_bench
