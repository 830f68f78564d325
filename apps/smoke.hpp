// SPDX-License-Identifier: BSD-3-Clause
// Smoke that a flow carries: its density, from 0 to 1, by upwind differences of first order
// (Courant, Isaacson, Rees, "On the Solution of Nonlinear Hyperbolic Differential Equations by
// Finite Differences"). Rows wrap around. The first column gets clean fluid; smoke leaves at the
// last one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hocket/halo.hpp"

namespace apps {

/// A point where smoke enters.
struct Source {
    double row, col;
};

/// "12,30 7,40" as sources, rows and columns of points. Ignores all from the first word on that is
/// none, and all after 16 sources.
std::vector<Source> sources_of(const std::string& text);

class Smoke {
  public:
    static constexpr double diffusion = 0.002, radius = 1.5;

    /// `layout`: (BLOCK, *) of the points. `solid`: of this process's points.
    Smoke(const hocket::Layout& layout, const hocket::Comm& comm, std::vector<bool> solid);

    /// One step through velocities, (row, column) for each of this process's points. Collective.
    void step(std::span<const double> velocity, std::span<const Source> sources);
    const hocket::Array& array() const { return now_.array(); }

  private:
    std::int64_t cols_;
    std::vector<std::int64_t> held_;  // this process's rows
    std::vector<bool> solid_;
    hocket::Halo now_;
    std::vector<double> next_;
};

}  // namespace apps
