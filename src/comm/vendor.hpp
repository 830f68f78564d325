// SPDX-License-Identifier: BSD-3-Clause
// What differs between MPI implementations, and questions to the one at hand. For src/comm only.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "node/launched.hpp"

namespace hocket::comm::vendor {

/// "Open MPI 5.0.11", "MPICH 5.0.2", … : the first line of MPI_Get_library_version, shortened.
std::string library();
std::string library_version();  ///< the whole of it
/// Whether MPI takes this for a communicator, or for MPI_COMM_NULL.
bool is_communicator(MPI_Comm comm);
int highest_tag();  ///< MPI_TAG_UB; at least 32767 (MPI 4.1, section 9.1.2)
/// MPI_Get_processor_name; under HOCKET_NODES=0,0,1,1, which pretends that the ranks of
/// MPI_COMM_WORLD sit on several nodes, with this rank's number behind it.
/// @throws Error if HOCKET_NODES has no number for this rank.
std::string node_name();
inline constexpr char pretended_mark = '#';
int world_rank();  ///< in MPI_COMM_WORLD
/// There of each rank of the communicator.
std::vector<int> world_ranks(MPI_Comm comm);
/// How the processes of this program are told from others; nothing without a launcher that is
/// known.
std::optional<node::Launcher> launcher();
/// Whether the launcher says that all ranks of MPI_COMM_WORLD are on this node.
bool all_on_one_node();
/// MPI_Testsome: how many of the requests have completed, and into `places` which. In SMPI it looks
/// at one request after the other, each at the price of a switch to the simulator; of the requests
/// that were looked at before, the first `seen`, MPI_Testany sees all at once. New ones it may not
/// see: those of short sends are never under way. `seen` becomes their number.
int test_some(std::vector<MPI_Request>& requests, std::vector<int>& places, std::size_t& seen);

}  // namespace hocket::comm::vendor
