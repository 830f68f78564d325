// SPDX-License-Identifier: BSD-3-Clause
// A user's program: rows become columns.
#include <mpi.h>

#include <cstdio>

#include "hocket/layout.hpp"
#include "hocket/mpi.hpp"
#include "hocket/transfer.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int wrong = 0;
    {
        const hocket::Comm world = hocket::from_mpi(MPI_COMM_WORLD);
        const std::int64_t n = world.size();
        const hocket::Layout rows({4, 6}, "(BLOCK, *)", {n}), columns({4, 6}, "(*, CYCLIC)", {n});
        auto source = hocket::Array::empty(rows, hocket::dtype_of<double>(), world);
        auto destination = hocket::Array::empty(columns, hocket::dtype_of<double>(), world);
        const auto fill = [&](const hocket::Layout& layout, double* data, bool look) {
            const auto held = layout.global_indices(world.rank());
            for (const auto i : held[0])
                for (const auto j : held[1]) {
                    const auto value = static_cast<double>(10 * i + j);
                    if (look && *data != value) ++wrong;
                    *data++ = value;
                }
        };
        fill(rows, static_cast<double*>(source.data()), false);
        hocket::redistribute(source, destination);
        fill(columns, static_cast<double*>(destination.data()), true);
        if (world.rank() == 0)
            std::printf("C++ on %s: %s\n", hocket::mpi_library().c_str(), columns.text().c_str());
    }
    MPI_Finalize();
    return wrong;
}
