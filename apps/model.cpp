// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#ifdef HOCKET_SIMULATED

#include <simgrid/engine.h>
#include <smpi/smpi.h>

#include <array>
#include <cmath>
#include <sstream>

#include "hocket/error.hpp"

namespace apps {
namespace {

constexpr std::size_t kinds = 6;
std::array<double, kinds> model{};

}  // namespace

bool modelled(Work work, double units) {
    smpi_execute(model[static_cast<std::size_t>(work)] * units);
    return true;
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
