// SPDX-License-Identifier: BSD-3-Clause
// Computing under simulation. SimGrid carries a program's messages and keeps its clock, but kernels
// would take real time and no simulated time. So each kernel announces its work: in a simulation
// that takes the model's time, and the kernel skips the work.
#pragma once

#include <cstdint>
#include <string>

namespace apps {

/// Kinds of work, each with its own speed.
enum class Work {
    fft,      ///< operations: 5 n log2 n for a line of n
    product,  ///< complex numbers multiplied
    stencil,  ///< points of a Jacobi step
    blas,     ///< operations of matrix products and triangular solutions
    panel,    ///< operations on one column at a time
    move,     ///< bytes of a local permutation or copy, read and written
};

#ifdef HOCKET_SIMULATED
constexpr bool simulated = true;
/// Spends the simulated time of so many units; true: skip the work.
bool modelled(Work work, double units);
/// Seconds a unit, in the order of `Work`, with commas between them: `of_step` for a step that has
/// one of its process's processors, `seconds` for a process with all of its threads.
/// @throws hocket::Error for anything else.
void use_model(const std::string& seconds, const std::string& of_step);
/// Whether a number stands for a square of several: then a column of them has products within.
/// `use_coarse()`: it does.
bool coarse();
void use_coarse();
/// Interrupts computing, as an operating system does: on average after `every` seconds of it, for
/// `lasts` seconds, at random times that each process draws from `seed`. 0 seconds: never.
void use_noise(double every, double lasts, std::uint64_t seed);
/// Seconds on the simulated clock.
double simulated_now();
#else
constexpr bool simulated = false;
inline bool modelled(Work, double) {
    return false;
}
inline bool coarse() {
    return false;
}
#endif

}  // namespace apps
