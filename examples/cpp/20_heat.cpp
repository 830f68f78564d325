// SPDX-License-Identifier: BSD-3-Clause
// Heat spreads over a plate whose edges stay cold, as in 14_heat.py, to the bit: neighbours by
// CSHIFT, FORALL by for_each, and an exact sum.
//
// Run me: mpiexec -n 3 ./20_heat
#include <mpi.h>

#include <cstdio>

#include "hocket/computing.hpp"
#include "hocket/mpi.hpp"

namespace {

constexpr std::int64_t side = 48;
constexpr int steps = 30;

void run(const hocket::Comm& comm) {
    using hocket::cshift;
    const hocket::Layout layout({side, side}, "(BLOCK, BLOCK)", {comm.size(), 1});
    const auto heat = hocket::Array::empty(layout, hocket::dtype_of<double>(), comm);
    hocket::for_each<double>(heat, [](auto at, double& value) {
        value = at[0] >= 20 && at[0] < 28 && at[1] >= 10 && at[1] < 30 ? 100.0 : 0.0;
    });
    for (int step = 0; step < steps; ++step) {
        const auto north = cshift(heat, -1, {.dim = 0}), south = cshift(heat, 1, {.dim = 0});
        const auto west = cshift(heat, -1, {.dim = 1}), east = cshift(heat, 1, {.dim = 1});
        const auto n = north.local<double>(), s = south.local<double>();
        const auto w = west.local<double>(), e = east.local<double>();
        std::size_t k = 0;
        hocket::for_each<double>(heat, [&](auto at, double& value) {
            const double around = n[k] + s[k] + w[k] + e[k];
            ++k;
            if (at[0] % (side - 1) != 0 && at[1] % (side - 1) != 0)
                value += 0.2 * (around - 4 * value);
        });
    }
    const auto total = hocket::item<double>(reduce(heat, hocket::Combine::sum));
    const auto hottest = hocket::item<double>(reduce(heat, hocket::Combine::maxval));
    const auto place = locate(heat, hocket::Combine::maxval);
    const auto at = place.local<std::int64_t>();
    if (comm.rank() == 0)
        std::printf("total %.6f, hottest %.4f at (%d, %d)\n", total, hottest,
                    static_cast<int>(at[0]), static_cast<int>(at[1]));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int failed = 0;
    try {
        run(hocket::from_mpi(MPI_COMM_WORLD));
    } catch (const hocket::Error& error) {
        std::fprintf(stderr, "heat: %s\n", error.what());
        failed = 1;
    }
    MPI_Finalize();
    return failed;
}
