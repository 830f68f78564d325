// SPDX-License-Identifier: BSD-3-Clause
// A two-dimensional flow around a disc, by the lattice-Boltzmann method with nine velocities and
// one relaxation time (Qian, d'Humières, Lallemand, "Lattice BGK Models for Navier-Stokes
// Equation"). Both dimensions are periodic, and a small force along the rows drives the flow; or
// the fluid enters at the first column and leaves at the last one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hocket/halo.hpp"

namespace apps {

class FlowField {
  public:
    static constexpr std::int64_t speeds = 9;

    /// Rows are distributed over the communicator's processes; the fluid is at rest at first.
    FlowField(std::int64_t rows, std::int64_t cols, const hocket::Comm& comm);

    /// From now on the fluid enters at this speed, in points a step, and no force drives it. All of
    /// it begins at this speed.
    void enter(double speed);
    /// The kinematic viscosity in squared points a step: (relaxation time - 1/2)/3.
    void set_viscosity(double viscosity) { relaxation_ = 0.5 + 3.0 * viscosity; }

    /// Collision, then every population moves to the next point. Collective.
    void step();
    /// Copies the present velocities, (row, column) a point, and the dye into these arrays.
    void show(const hocket::Array& velocity, const hocket::Array& dye) const;
    void show_velocity(const hocket::Array& velocity) const;
    /// Adds dye at the points of tracers, (row, column) each.
    void mark(std::span<const double> tracers);

    /// Whether a point is within the disc, for each of this process's points.
    const std::vector<bool>& solid() const { return solid_; }
    const hocket::Layout& velocity_layout() const { return velocity_; }
    const hocket::Layout& dye_layout() const { return dye_; }

  private:
    double* cell(std::size_t local_row, std::int64_t col);
    void set_ends();
    void collide(double* cell, bool solid) const;
    void require(const hocket::Array& array, const hocket::Layout& layout) const;

    double relaxation_ = 0.6, force_ = 1e-5, entering_ = 0;
    std::int64_t rows_, cols_;
    hocket::Layout parts_, velocity_, dye_;
    std::vector<std::int64_t> held_;   // this process's rows
    std::vector<bool> solid_;          // of this process's points
    std::vector<double> marks_;        // of this process's points
    std::optional<hocket::Halo> now_;  // after the last step
    std::vector<double> next_;
};

/// The positions of tracers, moved by a replicated field of velocities.
class Tracers {
  public:
    /// `count` tracers in the second column, spread over the rows.
    Tracers(std::int64_t rows, std::int64_t cols, std::int64_t count);
    /// `steps` steps, each with the velocity at the tracer's point.
    void move(std::span<const double> velocity, std::int64_t steps);
    std::span<const double> places() const { return places_; }

  private:
    std::int64_t rows_, cols_;
    std::vector<double> places_;  // (row, column) each
};

}  // namespace apps
