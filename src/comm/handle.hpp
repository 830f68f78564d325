// SPDX-License-Identifier: BSD-3-Clause
// The MPI objects behind Link and Requests. For src/comm only.
#pragma once

#include <mpi.h>

#include <vector>

#include "comm/link.hpp"

namespace hocket::comm {

struct Link::Handle {
    MPI_Comm comm = MPI_COMM_NULL;
};

struct Requests::Batch {
    std::vector<MPI_Request> requests;
    std::vector<std::size_t> group;  // of each request
    std::vector<int> indices;        // scratch of MPI_Testsome
};

/// @throws Error with MPI's own words if `code` is not MPI_SUCCESS.
void check(int code, const char* call);

}  // namespace hocket::comm
