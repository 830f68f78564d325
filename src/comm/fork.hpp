// SPDX-License-Identifier: BSD-3-Clause
// A process that was forked from one of an MPI program is none of the program: MPI and the other
// processes know its parent only, and the parent's other threads are not in it.
#pragma once

#include <cstdint>

namespace hocket::comm {

namespace detail {
extern std::int64_t forked_from;  // 0: this process is a process of the program
extern bool without_mpi;
[[noreturn]] void refuse_fork();
}  // namespace detail

inline bool forked() {
    return detail::forked_from != 0;
}

/// The connections of this process are none of its forks', although MPI may not run here.
inline void keep_from_forks() {
    detail::without_mpi = true;
}

/// For all that communicates, before it takes a lock. @throws Error in a fork.
inline void require_no_fork() {
    if (forked()) detail::refuse_fork();
}

}  // namespace hocket::comm
