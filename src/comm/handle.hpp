// SPDX-License-Identifier: BSD-3-Clause
// The MPI objects behind Link and Requests. For src/comm only.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/link.hpp"

namespace hocket::comm {

struct Link::Handle {
    MPI_Comm comm = MPI_COMM_NULL;
    std::int64_t unreceived = 0;
    bool given_up = false;
    std::vector<int> world_ranks = {};  // of its ranks, in simulation
};

struct Requests::Batch {
    std::vector<std::shared_ptr<Link::Handle>> links;  // which the messages are of, each once
    std::vector<MPI_Request> requests;
    std::vector<std::size_t> group;       // of each request
    std::vector<std::int64_t> processes;  // its partner's id, as Link has it
    std::vector<int> indices;             // scratch: which have completed
    std::size_t seen = 0;                 // of the requests: those that were looked at

    void add(MPI_Request request, std::int64_t process, const std::shared_ptr<Link::Handle>& link) {
        requests.push_back(request);
        processes.push_back(process);
        if (std::find(links.begin(), links.end(), link) == links.end()) links.push_back(link);
    }
};

/// @throws Error with MPI's own words if `code` is not MPI_SUCCESS.
void check(int code, const char* call);

}  // namespace hocket::comm
