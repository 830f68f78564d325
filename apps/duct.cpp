// SPDX-License-Identifier: BSD-3-Clause
#include "duct.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "flow_field.hpp"
#include "hocket/port.hpp"
#include "smoke.hpp"

namespace apps {
namespace {

using hocket::Array;
using hocket::Layout;

// In points and steps. The lattice-Boltzmann method is stable between these viscosities.
constexpr double entering = 0.1, thinnest = 0.005, thickest = 0.3;

// The nearest number that the simulation can use; observers may set any, also NaN.
double usable(const hocket::Value& value, double least, double most) {
    const double number = std::get<double>(value);
    return number >= least ? std::min(number, most) : least;
}

// Sleeps so that steps begin at most so often, but at least once a second, because observers are
// answered between steps. 0: as often as they can.
class Pace {
  public:
    void keep(double rate) {
        using namespace std::chrono;
        const auto now = steady_clock::now();
        const duration<double> between(rate > 0 ? 1 / std::max(rate, 1.0) : 0);
        next_ += duration_cast<steady_clock::duration>(between);
        if (rate > 0 && next_ > now)
            std::this_thread::sleep_until(next_);
        else
            next_ = now;
    }

  private:
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

}  // namespace

void run_duct(Program& program) {
    const auto& given = program.parameters;
    const auto& everyone = program.everyone;
    const auto rows = given.whole("rows", 1), cols = given.whole("cols", 1);
    FlowField field(rows, cols, everyone);
    field.enter(entering);
    Smoke smoke(field.dye_layout(), everyone, field.solid());
    const auto velocity =
        Array::empty(field.velocity_layout(), hocket::dtype_of<double>(), everyone);
    const auto solid = Array::empty(field.dye_layout(), hocket::dtype_of<std::uint8_t>(), everyone);
    field.show_velocity(velocity);
    std::ranges::copy(field.solid(), solid.local<std::uint8_t>().begin());

    hocket::PortOptions options;
    options.address = given.text("address");
    options.key = given.text("key");
    auto port = hocket::Port::open(given.text("port"), everyone, options);
    port.publish("velocity", velocity);
    port.publish("smoke", smoke.array());
    port.publish("solid", solid);
    const auto viscosity = port.parameter("viscosity", 0.02);
    const auto sources = port.parameter("sources", std::string());
    const auto rate = port.parameter("rate", given.real("rate"));
    const auto go = port.parameter("go", true);
    if (program.rank() == 0) {
        const auto& where = options.address.empty() ? port.name() : port.address();
        std::printf("runs on; look at it with: hocket app steering --view %s\n", where.c_str());
        std::fflush(stdout);
    }
    Pace pace;
    while (std::get<bool>(go.value())) {
        field.set_viscosity(usable(viscosity.value(), thinnest, thickest));
        field.step();
        field.show_velocity(velocity);
        smoke.step(velocity.local<double>(), sources_of(std::get<std::string>(sources.value())));
        port.poll();
        pace.keep(usable(rate.value(), 0, 1e6));
    }
    program.report.add("steps", port.polls());
    port.close();
}

}  // namespace apps
