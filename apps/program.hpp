// SPDX-License-Identifier: BSD-3-Clause
// Common to the papers' programs: start, end, times that are the maximum over processes, and a
// report. They communicate through hocket alone; MPI is only initialised and finalised.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hocket/comm.hpp"
#include "parameters.hpp"

namespace apps {

/// Figures by name, printed as one line of JSON by process 0, which `hocket app` reads.
class Report {
  public:
    void add(const std::string& name, double value);
    void add(const std::string& name, std::int64_t value);
    void add(const std::string& name, const std::string& value);
    void add(const std::string& name, std::span<const double> values);
    void add(const std::string& name, std::span<const std::int64_t> values);
    /// A report in a report.
    void add(const std::string& name, const Report& inner);
    void add(const std::string& name, std::span<const Report> inner);
    std::string json() const;

  private:
    std::vector<std::pair<std::string, std::string>> entries_;
};

/// All processes of the program, and its parameters.
struct Program {
    Parameters parameters;
    hocket::Comm everyone;
    Report report;

    int rank() const { return everyone.rank(); }
    int size() const { return everyone.size(); }
};

/// Returns once every process has called it.
void settle(const hocket::Comm& comm);

/// Seconds since some moment, monotonic.
double now();

/// Settles, runs `step` on every process, and returns the seconds of the slowest, on all.
/// Collective.
double timed(const hocket::Comm& comm, const std::function<void()>& step);

/// The largest of each entry over the processes, on all of them. Collective.
std::vector<double> maximum(const hocket::Comm& comm, std::span<const double> mine);

/// The peak resident memory of this process in bytes; 0 if the system does not report it.
std::int64_t peak_bytes();

/// One form of a program, to be timed beside the others.
struct Form {
    std::string name;
    std::function<void()> run;
    Report figures = {};  ///< its further figures
};

/// Runs the forms in turn, `program.parameters.whole("runs")` times each, and reports them as
/// "forms", by name: their figures, and under `unit` the seconds of each run over `parts`, the
/// images, frames or steps of a run. Collective.
void compare(Program& program, std::span<const Form> forms, const std::string& unit,
             std::int64_t parts);

/// Starts MPI, runs `body`, and prints its report. Prints an exception of `body` as "error: …" and
/// ends the program with status 1.
int run(int argc, char** argv, const std::function<void(Program&)>& body);

}  // namespace apps
