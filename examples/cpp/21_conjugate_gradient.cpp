// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation by conjugate gradients: dot products have the same bits on any number of
// processes, so that every step is the same.
//
// Run me: mpiexec -n 3 ./21_conjugate_gradient
#include <mpi.h>

#include <cmath>
#include <cstdio>

#include "hocket/computing.hpp"
#include "hocket/mpi.hpp"

namespace {

using hocket::Array;
constexpr std::int64_t side = 12;

double dot(const Array& a, const Array& b) {
    return hocket::item<double>(dot_product(a, b));
}

// y = y * scale + x * factor, on the elements of this process.
void combine(const Array& y, double scale, const Array& x, double factor) {
    const auto from = x.local<double>(), into = y.local<double>();
    for (std::size_t k = 0; k < into.size(); ++k) into[k] = into[k] * scale + from[k] * factor;
}

// Four times each element, less its neighbours; beyond the edges there is 0.
void laplace(const Array& x, const Array& result) {
    combine(result, 0, x, 4);
    for (const std::int64_t dim : {0, 1})
        for (const std::int64_t shift : {1, -1})
            combine(result, 1, eoshift(x, shift, nullptr, {.dim = dim}), -1);
}

void run(const hocket::Comm& comm) {
    const hocket::Layout layout({side, side}, "(BLOCK, *)", {comm.size()});
    const auto zeros = [&] {
        const Array made = Array::empty(layout, hocket::dtype_of<double>(), comm);
        hocket::for_each<double>(made, [](auto, double& value) { value = 0; });
        return made;
    };
    const Array x = zeros(), r = zeros(), p = zeros(), q = zeros();
    hocket::for_each<double>(r, [](auto at, double& value) {
        value = static_cast<double>((7 * at[0] + 3 * at[1]) % 11) - 5;
    });
    assign(p, r);
    double square = dot(r, r);
    int steps = 0;
    for (; square > 1e-20; ++steps) {
        laplace(p, q);
        const double alpha = square / dot(p, q), before = square;
        combine(x, 1, p, alpha);
        combine(r, 1, q, -alpha);
        square = dot(r, r);
        combine(p, square / before, r, 1);
    }
    const auto total = hocket::item<double>(reduce(x, hocket::Combine::sum));
    if (comm.rank() == 0) std::printf("%d steps, sum of the solution %.12f\n", steps, total);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int failed = 0;
    try {
        run(hocket::from_mpi(MPI_COMM_WORLD));
    } catch (const hocket::Error& error) {
        std::fprintf(stderr, "conjugate gradient: %s\n", error.what());
        failed = 1;
    }
    MPI_Finalize();
    return failed;
}
