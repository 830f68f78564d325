// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/costs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"
#include "kernel/cpu.hpp"
#include "kernel/panels.hpp"
#include "kernel/stream.hpp"

namespace hocket::kernel {
namespace {

struct Curve {
    const char* name;
    CostCurve PassCosts::*costs;
};
constexpr std::array<Curve, 6> curves{{{"scattered", &PassCosts::scattered},
                                       {"buffered", &PassCosts::buffered},
                                       {"ringed", &PassCosts::ringed},
                                       {"turned", &PassCosts::turned},
                                       {"shifted", &PassCosts::shifted},
                                       {"tiled", &PassCosts::tiled}}};

/// The lines of one number: a cost, or a distance.
struct Scalar {
    const char* name;
    double PassCosts::*cost;
    std::int64_t Distances::*bytes;
};
constexpr std::array<Scalar, 33> scalars{
    {{"swapped_in_cache", &PassCosts::swapped_in_cache, nullptr},
     {"swapped_past", &PassCosts::swapped_past, nullptr},
     {"swapped_apart", &PassCosts::swapped_apart, nullptr},
     {"moved", &PassCosts::moved, nullptr},
     {"apart", &PassCosts::apart, nullptr},
     {"wide_panel", &PassCosts::wide_panel, nullptr},
     {"slab_steps", &PassCosts::slab_steps, nullptr},
     {"copy_steps", &PassCosts::copy_steps, nullptr},
     {"ring_start", &PassCosts::ring_start, nullptr},
     {"ring_waiting", &PassCosts::ring_waiting, nullptr},
     {"ring_crowded", &PassCosts::ring_crowded, nullptr},
     {"ring_parts", &PassCosts::ring_parts, nullptr},
     {"ring_steps", &PassCosts::ring_steps, nullptr},
     {"vast_steps", &PassCosts::vast_steps, nullptr},
     {"short_ahead", nullptr, &Distances::short_ahead},
     {"long_ahead", nullptr, &Distances::long_ahead},
     {"short_block", nullptr, &Distances::short_block},
     {"paired_block", nullptr, &Distances::paired_block},
     {"far_array", nullptr, &Distances::far_array},
     {"ring_ahead", nullptr, &Distances::ring_ahead},
     {"ring_panel", nullptr, &Distances::ring_panel},
     {"ring_row", nullptr, &Distances::ring_row},
     {"long_panel", nullptr, &Distances::long_panel},
     {"panel_row", nullptr, &Distances::panel_row},
     {"small_tile", nullptr, &Distances::small_tile},
     {"pair_tile", nullptr, &Distances::pair_tile},
     {"fetched_tile", nullptr, &Distances::fetched_tile},
     {"past_panel", nullptr, &Distances::past_panel},
     {"near_cache", nullptr, &Distances::near_cache},
     {"copy_piece", nullptr, &Distances::copy_piece},
     {"copy_ahead", nullptr, &Distances::copy_ahead},
     {"streamed_copy", nullptr, &Distances::streamed_copy},
     {"abreast", nullptr, &Distances::abreast}}};

constexpr std::array<std::pair<const char*, Streaming>, 3> streamings{
    {{"none", Streaming::none}, {"conflicting", Streaming::conflicting}, {"all", Streaming::all}}};

constexpr std::array<std::pair<const char*, Fetching>, 2> fetchings{
    {{"second_level", Fetching::second_level}, {"first_level", Fetching::first_level}}};

double at(const CostCurve& curve, std::int64_t bytes) {
    const auto next = std::lower_bound(
        curve.begin(), curve.end(), bytes,
        [](const auto& point, std::int64_t wanted) { return point.first < wanted; });
    if (next == curve.begin()) return next->second;
    const auto [low, low_cost] = *(next - 1);
    if (next == curve.end()) return low_cost;
    const auto [high, high_cost] = *next;
    const double part = static_cast<double>(bytes - low) / static_cast<double>(high - low);
    const double below = low_cost * static_cast<double>(low);
    const double above = high_cost * static_cast<double>(high);
    return (below + part * (above - below)) / static_cast<double>(bytes);
}

/// Costs of buffers depend on their part of the second-level cache.
std::int64_t scaled(std::int64_t bytes) {
    const double here = static_cast<double>(least_streamed_bytes()) / 2;
    return std::llround(static_cast<double>(bytes) * static_cast<double>(PassCosts::kept().cache) /
                        here);
}

bool read_word(const std::string& name, const std::string& word, PassCosts& costs) {
    if (name == "processor") costs.processor = word;
    const auto read = [&](const char* of, const auto& words, auto& rule) {
        const auto found = std::find_if(words.begin(), words.end(),
                                        [&](const auto& each) { return each.first == word; });
        if (name != of || found == words.end()) return false;
        rule = found->second;
        return true;
    };
    return read("streaming", streamings, costs.distances.streaming) ||
           read("fetching", fetchings, costs.distances.fetching) ||
           (name == "processor" && !word.empty());
}

bool read_scalar(const std::string& name, double value, PassCosts& costs) {
    constexpr double least = 64, most = 16 << 20;  // bytes
    const auto scalar = std::find_if(scalars.begin(), scalars.end(),
                                     [&](const Scalar& each) { return each.name == name; });
    if (scalar == scalars.end()) return false;
    if (scalar->cost) {
        costs.*scalar->cost = value;
        return true;
    }
    if (value < least || value > most) return false;
    costs.distances.*scalar->bytes = std::llround(value);
    return true;
}

/// Reads one line "name bytes = cost", "name = number" or "name = word".
void read_line(const std::string& line, PassCosts& costs) {
    const std::size_t equals = line.find('=');
    const std::string left = text::trimmed(line.substr(0, equals));
    const std::string right =
        equals == std::string::npos ? "" : text::trimmed(line.substr(equals + 1));
    if (read_word(left, right, costs)) return;
    std::istringstream words(left);
    std::string name, rest;
    std::int64_t bytes = 0;
    double cost = 0;
    words >> name;
    const bool sized = static_cast<bool>(words >> bytes) && bytes > 0 && !(words >> rest);
    const char* const end = right.data() + right.size();
    const auto [stop, problem] = std::from_chars(right.data(), end, cost);
    const bool known = problem == std::errc() && stop == end && cost > 0 && std::isfinite(cost);
    const auto curve = std::find_if(curves.begin(), curves.end(),
                                    [&](const Curve& each) { return each.name == name; });
    if (known && left == name && read_scalar(name, cost, costs)) return;
    if (!(known && sized && curve != curves.end() &&
          ((costs.*curve->costs).empty() || (costs.*curve->costs).back().first < bytes)))
        throw Error("line '" + line +
                    "' is no cost with more bytes than the one before, and no distance of 64 bytes "
                    "to 16 MiB; write it as scattered 64 = 1.5, swapped_past = 1.4 or long_ahead = "
                    "65536");
    (costs.*curve->costs).emplace_back(bytes, cost);
}

PassCosts read_kept() {
    const std::string path = PassCosts::kept_path();
    std::ifstream file(path);
    if (path.empty() || !file) return PassCosts::shipped();
    std::stringstream all;
    all << file.rdbuf();
    PassCosts costs;
    try {
        costs = PassCosts::parse(all.str());
    } catch (const Error& error) {
        throw Error("the file '" + path + "' holds no costs of passes: " + error.what() +
                    "; write it anew with `hocket calibrate --passes`, or remove it");
    }
    // Machines with other processors may share the user's files.
    if (costs.processor != this_processor().name()) return PassCosts::shipped();
    costs.origin = "measured by hocket calibrate --passes";
    return costs;
}

const environment::ValidatedSetting validated([] { static_cast<void>(PassCosts::kept()); });

}  // namespace

std::string PassCosts::text() const {
    const auto number = [](double value) {
        std::array<char, 32> digits{};
        return std::string(digits.data(), std::to_chars(digits.data(), digits.data() + 32, value,
                                                        std::chars_format::general, 3)
                                              .ptr);
    };
    std::string out =
        "# What passes over an array in place cost, by bytes; 1: as memcpy. See `hocket "
        "calibrate`.\nprocessor = " +
        processor + "\n";
    for (const Curve& each : curves)
        for (const auto& [bytes, cost] : this->*each.costs)
            out +=
                std::string(each.name) + " " + std::to_string(bytes) + " = " + number(cost) + "\n";
    for (const Scalar& each : scalars)
        out += std::string(each.name) + " = " +
               (each.cost ? number(this->*each.cost) : std::to_string(distances.*each.bytes)) +
               "\n";
    for (const auto& [word, rule] : streamings)
        if (rule == distances.streaming) out += std::string("streaming = ") + word + "\n";
    for (const auto& [word, rule] : fetchings)
        if (rule == distances.fetching) out += std::string("fetching = ") + word + "\n";
    return out;
}

PassCosts PassCosts::parse(const std::string& text) {
    // For files that were written before there were so many names.
    const PassCosts before = shipped();
    PassCosts costs;
    costs.distances = before.distances;
    for (const Scalar& each : scalars)
        if (each.cost) costs.*each.cost = before.*each.cost;
    // Their curves know neither long panels in rings nor wide ones.
    constexpr Distances unknown;
    costs.distances.ring_panel = unknown.ring_panel;
    costs.distances.ring_row = unknown.ring_row;
    costs.distances.long_panel = unknown.long_panel;
    costs.wide_panel = PassCosts{}.wide_panel;
    costs.swapped_in_cache = costs.swapped_past = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        line = text::trimmed(line.substr(0, line.find('#')));
        if (!line.empty()) read_line(line, costs);
    }
    for (const Curve& each : curves)
        if ((costs.*each.costs).empty() && each.costs != &PassCosts::shifted &&
            each.costs != &PassCosts::tiled)
            throw Error(std::string("there is no cost of ") + each.name);
    if (costs.shifted.empty()) costs.shifted = before.shifted;
    // Before there was this curve, files had one for both kinds of tiles.
    if (costs.tiled.empty()) costs.tiled = before.tiled.empty() ? costs.shifted : before.tiled;
    if (costs.processor.empty() || costs.swapped_in_cache == 0 || costs.swapped_past == 0)
        throw Error("there is no processor, swapped_in_cache or swapped_past");
    costs.cache = least_streamed_bytes() / 2;
    return costs;
}

std::string PassCosts::kept_path() {
    const std::string model = environment::kept_path();
    return model.empty() || model == "default" ? "" : model + ".passes";
}

namespace {
const PassCosts& kept_here() {
    static const PassCosts costs = read_kept();
    return costs;
}
std::atomic<const PassCosts*> costs_on_trial{nullptr};
std::atomic<const Distances*> distances_on_trial{nullptr};
}  // namespace

const PassCosts& PassCosts::kept() {
    const PassCosts* const now = costs_on_trial.load(std::memory_order_acquire);
    return now ? *now : kept_here();
}

const Distances& distances() {
    // Copies need no file: one that cannot be read is the error of what chooses passes.
    static const Distances kept = [] {
        try {
            return kept_here().distances;
        } catch (const Error&) {
            return PassCosts::shipped().distances;
        }
    }();
    const Distances* const now = distances_on_trial.load(std::memory_order_acquire);
    return now ? *now : kept;
}

void try_distances(const Distances* trial) {
    distances_on_trial.store(trial, std::memory_order_release);
}

void try_costs(const PassCosts* trial) {
    costs_on_trial.store(trial, std::memory_order_release);
    try_distances(trial ? &trial->distances : nullptr);
}

bool on_trial() {
    return costs_on_trial.load(std::memory_order_acquire) ||
           distances_on_trial.load(std::memory_order_acquire);
}

std::string size_text(std::int64_t bytes) {
    if (bytes < 10240) return std::to_string(bytes) + " bytes";
    return std::to_string((bytes + 512) / 1024) + " KiB";
}

double scattered(std::int64_t block, std::size_t dimensions, bool cached) {
    const double bytes = static_cast<double>(block);
    if (cached) return 1.0 + 45.0 / bytes;
    // A block that does not begin at a cache line shares one with its neighbour.
    const double lines = block > 64 && block % 64 != 0 ? 32.0 : 0.0;
    const double apart = dimensions > 2 ? PassCosts::kept().apart : 0.0;
    return at(PassCosts::kept().scattered, block) + (lines + apart) / bytes;
}

bool fits_cache(const Permutation& permutation) {
    return permutation.batch * permutation.blocks() * permutation.block <=
           least_streamed_bytes() / 2;
}

double buffered(std::int64_t bytes) {
    return at(PassCosts::kept().buffered, scaled(bytes));
}

double slabs(std::int64_t bytes, const std::vector<std::int64_t>& extents, std::int64_t block) {
    const bool quick = distances().fetching == Fetching::first_level && block >= 4;
    const PassCosts& costs = PassCosts::kept();
    const double steps = quick ? 0.0 : costs.slab_steps / static_cast<double>(block);
    if (extents.size() > 2) return buffered(bytes) + std::max(steps, copied(block));
    const bool wide = extents[0] > Panels::few_rows && bytes >= costs.distances.long_panel;
    return buffered(bytes) + steps + (wide && block < 64 ? costs.wide_panel : 0.0);
}

double copied(std::int64_t unit) {
    return PassCosts::kept().copy_steps / static_cast<double>(unit);
}

double ringed(std::int64_t bytes) {
    return at(PassCosts::kept().ringed, scaled(bytes));
}

double shifted(std::int64_t block) {
    const CostCurve& measured = PassCosts::kept().shifted;
    return measured.empty() ? INFINITY : at(measured, block);
}

double tiled(std::int64_t block) {
    const CostCurve& measured = PassCosts::kept().tiled;
    return measured.empty() ? INFINITY : at(measured, block);
}

double transposed_tiles(std::int64_t unit, std::int64_t side) {
    // Other units than those measured take more or fewer instructions a byte.
    return at(PassCosts::kept().turned, side * unit) + 0.8 / static_cast<double>(unit) - 0.1;
}

double swapped_tiles(bool held) {
    return held ? PassCosts::kept().swapped_in_cache : PassCosts::kept().swapped_past;
}

double swapped_apart() {
    return PassCosts::kept().swapped_apart;
}

}  // namespace hocket::kernel
