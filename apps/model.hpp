// SPDX-License-Identifier: BSD-3-Clause
// Computing under simulation. SimGrid carries a program's messages and keeps its clock; what
// kernels compute would cost real time and no simulated one. So each says how much it is about to
// do: where time is simulated, that takes as long as the model says, and the kernel leaves its work
// undone.
#pragma once

#include <cstdint>
#include <string>

namespace apps {

/// Kinds of work, each with a speed of its own.
enum class Work {
    fft,      ///< operations: 5 n log2 n for a line of n
    product,  ///< complex numbers multiplied
    stencil,  ///< points of a Jacobi step
    blas,     ///< operations of matrix products and triangular solutions
    panel,    ///< operations on one column at a time
    move,     ///< bytes of a local permutation or copy, read and written
};

#ifdef HOCKET_SIMULATED
/// Spends the time that so many units take; true: the work is not to be done.
bool modelled(Work work, double units);
/// Seconds a unit, in the order of `Work`, with commas between them.
/// @throws hocket::Error where these are no such numbers.
void use_model(const std::string& seconds);
/// Interrupts computing, as an operating system does: on an average after `every` seconds of it,
/// for `lasts` seconds; when, is drawn anew on each process from `seed`. 0 seconds: never.
void use_noise(double every, double lasts, std::uint64_t seed);
/// Seconds on the simulated clock.
double simulated_now();
#else
inline bool modelled(Work, double) {
    return false;
}
#endif

}  // namespace apps
