// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#ifdef HOCKET_SIMULATED

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <array>
#include <cmath>
#include <random>
#include <sstream>

#include "hocket/error.hpp"

namespace apps {
namespace {

constexpr std::size_t kinds = 6;
std::array<double, kinds> model{};

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

}  // namespace

bool modelled(Work work, double units) {
    // Not an execution: at its end SimGrid 3.32 goes through the actor's list of all messages so
    // far.
    sg_actor_sleep_for(noise.disturbed(model[static_cast<std::size_t>(work)] * units));
    return true;
}

void use_noise(double every, double lasts, std::uint64_t seed) {
    noise = {every, lasts, std::mt19937_64(seed), 0};
    if (every > 0) noise.left = noise.until_next();
}

double simulated_now() {
    return simgrid_get_clock();
}

void use_model(const std::string& seconds) {
    std::istringstream in(seconds);
    for (std::size_t i = 0; i < kinds; ++i) {
        char comma = ',';
        if ((i > 0 && !(in >> comma)) || comma != ',' || !(in >> model[i]) || !(model[i] >= 0))
            throw hocket::Error("model=" + seconds + ": give " + std::to_string(kinds) +
                                " numbers of seconds with commas between them");
    }
}

}  // namespace apps

#endif
