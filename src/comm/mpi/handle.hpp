// SPDX-License-Identifier: BSD-3-Clause
// The MPI objects behind Link and Requests, and functions on them. For src/comm/mpi only.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "comm/link.hpp"
#include "comm/mpi/text_queue.hpp"
#include "comm/vendor.hpp"

namespace hocket::comm {

struct Link::Handle {
    MPI_Comm comm = MPI_COMM_NULL;
    std::int64_t unreceived = 0;
    bool given_up = false;
    std::vector<int> world_ranks = {};           // of its ranks, in simulation
    std::unique_ptr<TextQueue> texts = nullptr;  // none: each text is probed for
};

struct Requests::Batch {
    std::vector<std::shared_ptr<Link::Handle>> links;  // the links of the messages, each once
    std::vector<MPI_Request> requests;
    std::vector<std::size_t> group;       // of each request
    std::vector<std::int64_t> processes;  // its partner's id, as Link has it
    std::vector<int> indices;             // scratch: indices of completed requests
    std::vector<MPI_Status> statuses;     // scratch: their statuses, if lengths matter
    std::size_t seen = 0;                 // of the requests: those that earlier polls have visited
    std::deque<std::string> texts;        // messages of texts, until all requests are complete

    void add(MPI_Request request, std::int64_t process, const std::shared_ptr<Link::Handle>& link) {
        requests.push_back(request);
        processes.push_back(process);
        if (std::find(links.begin(), links.end(), link) == links.end()) links.push_back(link);
    }
};

/// @throws Error with MPI's own message if `code` is not MPI_SUCCESS; PeerLostError if MPI says
/// that a process has ended.
void check(int code, const char* call);

namespace vendor {

/// Whether MPI accepts this as a communicator, or as MPI_COMM_NULL.
bool is_communicator(MPI_Comm comm);
/// The rank in MPI_COMM_WORLD of each rank of the communicator.
std::vector<int> world_ranks(MPI_Comm comm);
/// The processes of this program, of all hosts, that have ended according to MPI: "rank 2, rank 5";
/// else "". Only an Open MPI that was started with fault tolerance (mpiexec --with-ft ulfm) knows.
std::string lost_processes();
/// MPI_Testsome: the number of completed requests, and their indices in `indices`. SMPI's version
/// visits one request after the other, each at the cost of a switch to the simulator. For the first
/// `seen` requests, which earlier polls have visited, MPI_Testany visits all at once. It may miss
/// new ones: those of short sends are never under way. `seen` becomes the number of visited ones.
/// `statuses`: those of the completed ones, if needed.
int test_some(std::vector<MPI_Request>& requests, std::vector<int>& indices, std::size_t& seen,
              std::vector<MPI_Status>* statuses);

}  // namespace vendor
}  // namespace hocket::comm
