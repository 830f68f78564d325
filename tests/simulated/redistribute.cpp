// SPDX-License-Identifier: BSD-3-Clause
// Arrays redistributed between all simulated processes: every element arrives in its place, and
// nothing beside it is touched. The exit code is not zero where that is not so.
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "hocket/mpi.hpp"
#include "hocket/transfer.hpp"
#include "start.hpp"

namespace {

using hocket::Array;
using hocket::Layout;
using hocket::Shape;

constexpr std::size_t guard = 64;
constexpr auto guard_byte = std::byte{0xA5};

// One process's part of a matrix, between guard bytes, in memory of the program's own.
class Guarded {
  public:
    Guarded(const Layout& layout, const hocket::Comm& comm)
        : memory_(2 * guard + bytes_of(layout, comm), guard_byte),
          array_(Array::wrap(memory_.data() + guard, layout, hocket::dtype_of<double>(), comm)) {}

    const Array& array() const { return array_; }

    void fill() {
        each([&](std::size_t place, double wanted) { put(place, wanted); });
    }
    // The number of elements that are right, or -1.
    std::int64_t check() const {
        std::int64_t right = 0;
        bool wrong = false;
        each([&](std::size_t place, double wanted) {
            const bool is_right = get(place) == wanted;
            right += is_right ? 1 : 0;
            wrong = wrong || !is_right;
        });
        for (std::size_t i = 0; i < guard; ++i)
            wrong =
                wrong || memory_[i] != guard_byte || memory_[memory_.size() - 1 - i] != guard_byte;
        return wrong ? -1 : right;
    }

  private:
    static std::size_t bytes_of(const Layout& layout, const hocket::Comm& comm) {
        return static_cast<std::size_t>(layout.local_elements(comm.rank())) * sizeof(double);
    }
    // For each local element, in order: its place, and the number of its global element.
    template <class Function>
    void each(Function function) const {
        const auto indices = array_.layout().global_indices(array_.process());
        const std::int64_t columns = array_.layout().shape()[1];
        std::size_t place = 0;
        for (const auto i : indices[0])
            for (const auto j : indices[1]) function(place++, static_cast<double>(i * columns + j));
    }
    void put(std::size_t place, double value) {
        std::memcpy(&memory_[guard + place * sizeof value], &value, sizeof value);
    }
    double get(std::size_t place) const {
        double value = 0;
        std::memcpy(&value, &memory_[guard + place * sizeof value], sizeof value);
        return value;
    }

    std::vector<std::byte> memory_;
    Array array_;
};

// The elements found right over all processes, or -1 if any process found a wrong one.
std::int64_t move_and_check(const Layout& from, const Layout& to, const hocket::Comm& comm) {
    Guarded source(from, comm), destination(to, comm);
    source.fill();
    hocket::redistribute(source.array(), destination.array());
    std::array<long long, 2> mine{destination.check(), source.check()}, worst{}, sum{};
    MPI_Allreduce(mine.data(), worst.data(), 2, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(mine.data(), sum.data(), 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (worst[0] < 0 || worst[1] < 0 || sum[0] != from.num_elements()) {
        if (comm.rank() == 0)
            std::fprintf(stderr, "wrong after %s -> %s\n", from.text().c_str(), to.text().c_str());
        return -1;
    }
    return sum[0];
}

int run() {
    const hocket::Comm comm = hocket::from_mpi(MPI_COMM_WORLD);
    const std::int64_t size = comm.size();
    // The most nearly square grid.
    std::int64_t rows = 1;
    for (std::int64_t r = 1; r * r <= size; ++r)
        if (size % r == 0) rows = r;
    const Shape shape{101, 67};  // divisible by nothing, so that the parts are uneven
    const Layout by_rows(shape, "(BLOCK, *)", {size});
    const Layout by_columns(shape, "(*, CYCLIC(3))", {size});
    const Layout grid(shape, "(CYCLIC, BLOCK)", {rows, size / rows});
    const std::vector<std::array<Layout, 2>> moves{
        {by_rows, by_columns}, {by_columns, grid}, {grid, by_rows}};
    std::int64_t checked = 0;
    for (const auto& [from, to] : moves) {
        const std::int64_t right = move_and_check(from, to, comm);
        if (right < 0) return 1;
        checked += right;
    }
    if (comm.rank() == 0)
        std::printf("simulated redistribute: %lld processes, %lld elements checked\n",
                    static_cast<long long>(size), static_cast<long long>(checked));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return simulated::program(argc, argv, run);
}
