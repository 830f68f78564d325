// SPDX-License-Identifier: BSD-3-Clause
// A process that waits learns when its messages have arrived: all others send to one, whose link
// they share, and its wait ends when MPI's own does. The exit code is not zero where it does not.
#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "hocket/mpi.hpp"
#include "hocket/transfer.hpp"
#include "start.hpp"

namespace {

constexpr int count = 1 << 17;  // numbers of a message: a megabyte

class Exchange {
  public:
    explicit Exchange(const hocket::Comm& comm)
        : comm_(comm),
          parts_({count * comm.size()}, "(BLOCK)", {comm.size()}),
          one_({count * comm.size()}, "(BLOCK)", {1}),
          numbers_(static_cast<std::size_t>(count)),
          all_(comm.rank() == 0 ? numbers_.size() * static_cast<std::size_t>(comm.size()) : 1),
          source_(hocket::Array::wrap(numbers_.data(), parts_, hocket::dtype_of<double>(), comm)),
          destination_(hocket::Array::wrap(all_.data(), one_, hocket::dtype_of<double>(), comm)) {}

    // Simulated seconds until process 0 has all.
    template <class Run>
    double seconds(Run&& run) const {
        const double began = simulated::all_start(1e-3);
        run();
        double took = MPI_Wtime() - began;
        MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return took;
    }

    double of_mpi() {
        return seconds([&] {
            auto requests = start();
            MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        });
    }

    double of_requests() {
        return seconds([&] {
            std::vector<std::unique_ptr<hocket::Operation>> operations;
            for (MPI_Request request : start()) operations.push_back(hocket::operation(request));
            for (const auto& each : operations) hocket::wait(*each);
        });
    }

    double of_arrays() {
        return seconds([&] { hocket::redistribute(source_, destination_); });
    }

  private:
    std::vector<MPI_Request> start() {
        std::vector<MPI_Request> requests;
        if (comm_.rank() > 0) {
            requests.emplace_back();
            MPI_Isend(numbers_.data(), count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests.back());
        } else {
            for (int from = 1; from < comm_.size(); ++from) {
                requests.emplace_back();
                MPI_Irecv(&all_[static_cast<std::size_t>(from) * count], count, MPI_DOUBLE, from, 1,
                          MPI_COMM_WORLD, &requests.back());
            }
        }
        return requests;
    }

    const hocket::Comm comm_;
    const hocket::Layout parts_, one_;
    std::vector<double> numbers_, all_;
    hocket::Array source_, destination_;
};

int run() {
    Exchange exchange(hocket::from_mpi(MPI_COMM_WORLD));
    exchange.of_arrays();  // the first call agrees on more than the second
    const double mpi = exchange.of_mpi(), requests = exchange.of_requests(),
                 arrays = exchange.of_arrays();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        std::printf("simulated arrivals: MPI %.6g s, requests %.6g s, arrays %.6g s\n", mpi,
                    requests, arrays);
    // Arrays also agree on what they are.
    return std::abs(requests - mpi) < 1e-3 * mpi && std::abs(arrays - mpi) < 1e-2 * mpi ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return simulated::program(argc, argv, run);
}
