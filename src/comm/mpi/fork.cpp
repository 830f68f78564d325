// SPDX-License-Identifier: BSD-3-Clause
#include "comm/fork.hpp"

#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <string>

#include "base/platform.hpp"
#include "hocket/error.hpp"

namespace hocket::comm {

std::int64_t detail::forked_from = 0;
bool detail::without_mpi = false;

namespace {

std::int64_t parent = 0;  // of the fork under way, if it is a process of an MPI program

// In the parent, because a child may make system calls only. A program may fork processes before
// any has initialised MPI, and each may do so itself.
void before_fork() {
    int running = 0;
    MPI_Initialized(&running);
    parent = running != 0 || detail::without_mpi ? getpid() : 0;
}

void in_child() {
    detail::forked_from = parent;
}

[[maybe_unused]] const int handled =
    platform::simulated ? 0 : pthread_atfork(before_fork, nullptr, in_child);

}  // namespace

void detail::refuse_fork() {
    throw Error("this process, " + std::to_string(getpid()) + ", was forked from process " +
                std::to_string(forked_from) +
                " of an MPI program, and cannot communicate: MPI does not know it; communicate in "
                "process " +
                std::to_string(forked_from) + ", and give this one work on local memory only");
}

}  // namespace hocket::comm
