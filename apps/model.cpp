// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#ifdef HOCKET_SIMULATED

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <array>
#include <cmath>
#include <random>
#include <sstream>

#include "hocket/binding.hpp"
#include "hocket/error.hpp"

namespace apps {
namespace {

constexpr std::size_t kinds = 6;
using Model = std::array<double, kinds>;
Model model{}, model_of_step{};

struct Noise {
    double every = 0, lasts = 0;
    std::mt19937_64 random;
    double left = 0;  // seconds of computing until the next interruption

    double until_next() { return std::exponential_distribution<double>(1 / every)(random); }
    // The time of a computation with its interruptions.
    double disturbed(double seconds) {
        if (every == 0) return seconds;
        double longer = seconds;
        for (; left <= seconds; left += until_next()) longer += lasts;
        left -= seconds;
        return longer;
    }
};
Noise noise;

Model model_of(const std::string& seconds) {
    Model found{};
    std::istringstream in(seconds);
    for (std::size_t i = 0; i < kinds; ++i) {
        char comma = ',';
        if ((i > 0 && !(in >> comma)) || comma != ',' || !(in >> found[i]) || !(found[i] >= 0))
            throw hocket::Error("model=" + seconds + ": give " + std::to_string(kinds) +
                                " numbers of seconds with commas between them");
    }
    return found;
}

}  // namespace

bool modelled(Work work, double units) {
    const auto kind = static_cast<std::size_t>(work);
    if (hocket::flow::computes_apart()) {
        hocket::flow::compute(noise.disturbed(model_of_step[kind] * units));
        return true;
    }
    // Not an execution: at its end SimGrid 3.32 goes through the actor's list of all messages so
    // far.
    sg_actor_sleep_for(noise.disturbed(model[kind] * units));
    return true;
}

void use_noise(double every, double lasts, std::uint64_t seed) {
    noise = {every, lasts, std::mt19937_64(seed), 0};
    if (every > 0) noise.left = noise.until_next();
}

static bool is_coarse = false;

bool coarse() {
    return is_coarse;
}

void use_coarse() {
    is_coarse = true;
}

double simulated_now() {
    return simgrid_get_clock();
}

void use_model(const std::string& seconds, const std::string& of_step) {
    model = model_of(seconds);
    model_of_step = model_of(of_step);
}

}  // namespace apps

#endif
