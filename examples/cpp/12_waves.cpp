// SPDX-License-Identifier: BSD-3-Clause
// One of two programs that run as tasks, each in its own language. All processes of this task
// compute a wave on a string, and send it every few steps to the Python program 12_listener.py.
//
// Build me with CMake: find_package(hocket REQUIRED), target_link_libraries(… hocket::hocket).
// Run us: hocket run "waves=2:./12_waves 400" listener=1:12_listener.py
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/layout.hpp"
#include "hocket/mpi.hpp"
#include "hocket/task.hpp"

namespace {

constexpr std::int64_t points = 64;
constexpr int every = 100;

// The string's part of one process, with a cell beside each end for its neighbours' nearest points.
struct String {
    std::vector<double> before, now, next;
    explicit String(std::size_t size) : before(size + 2), now(size + 2), next(size + 2) {}
};

// Neighbours exchange the points at their common border; the string's own ends stay at rest.
void exchange(String& string, MPI_Comm comm, int rank, int size) {
    const std::size_t last = string.now.size() - 2;
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&string.now[1], 1, MPI_DOUBLE, left, 0, &string.now[last + 1], 1, MPI_DOUBLE,
                 right, 0, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&string.now[last], 1, MPI_DOUBLE, right, 1, string.now.data(), 1, MPI_DOUBLE, left,
                 1, comm, MPI_STATUS_IGNORE);
}

void run(int steps) {
    hocket::Tasks world = hocket::Tasks::from_launcher(hocket::from_mpi(MPI_COMM_WORLD));
    const hocket::Comm task = world.comm();
    const hocket::Layout layout({points}, "(BLOCK)", {task.size()});
    const auto mine = layout.global_indices(task.rank())[0];
    String string(mine.size());
    for (std::size_t k = 0; k < mine.size(); ++k)
        string.now[k + 1] = std::sin(M_PI * static_cast<double>(mine[k] + 1) / (points + 1));
    string.before = string.now;
    const auto array = hocket::Array::empty(layout, hocket::dtype_of<double>(), task);
    auto* const shown = static_cast<double*>(array.data());
    for (int step = 1; step <= steps; ++step) {
        exchange(string, hocket::to_mpi(task), task.rank(), task.size());
        for (std::size_t k = 1; k <= mine.size(); ++k)
            string.next[k] = string.now[k - 1] + string.now[k + 1] - string.before[k];
        std::swap(string.before, string.now);
        std::swap(string.now, string.next);
        if (step % every != 0) continue;
        for (std::size_t k = 0; k < mine.size(); ++k) shown[k] = string.now[k + 1];
        world.send(array, "listener", {.tag = step});
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? std::atoi(argv[1]) : every);
    } catch (const hocket::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
