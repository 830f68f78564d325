// SPDX-License-Identifier: BSD-3-Clause
// A handle on the user's communicator, without <mpi.h>. hocket/mpi.hpp makes one from an MPI_Comm.
#pragma once

#include <cstdint>
#include <memory>

#include "hocket/error.hpp"
#include "hocket/handle.hpp"

namespace hocket {

namespace comm {
class State;  // the user's communicator and hocket's private duplicate; src/comm/state.hpp
}

/// A handle on the user's communicator. hocket never communicates on that communicator: the first
/// collective call makes a private duplicate, which lives as long as the user's communicator.
class Comm {
  public:
    /// MPI_COMM_WORLD. @throws Error before MPI_Init and after MPI_Finalize.
    static Comm world();
    static Comm self();

    int rank() const;
    int size() const;

    explicit Comm(std::shared_ptr<comm::State> state) : state_(std::move(state)) {}
    comm::State& state() const { return *state_; }
    friend bool operator==(const Comm& a, const Comm& b) { return a.state_ == b.state_; }

  private:
    handle::Shared<comm::State, "Comm"> state_;
};

/// The numbers of short messages that this process has sent and received so far to agree on calls:
/// statements, envelopes, answers and outcomes. For a message between tasks of S and R processes,
/// no process sends or receives more than 1 + ceil(max(log2 S, log2 R)). Up to 16 processes of a
/// task that share memory exchange none among themselves. `bytes_sent`: of those sent, and of up to
/// 16 KiB of elements that travel with an envelope; a layout of more than 96 bytes travels once
/// between two tasks, then as 17 bytes.
struct DescriptorCounts {
    std::int64_t sent, received, bytes_sent;
};
DescriptorCounts descriptor_counts();

}  // namespace hocket
