// SPDX-License-Identifier: BSD-3-Clause
// Differences between MPI implementations, and properties of the present one. For src/comm only.
#pragma once

#include <optional>
#include <string>

#include "shm/launcher.hpp"

namespace hocket::comm::vendor {

/// "Open MPI 5.0.11", "MPICH 5.0.2", … : the first line of MPI_Get_library_version, shortened.
std::string library();
std::string library_version();  ///< the complete text
int highest_tag();              ///< MPI_TAG_UB; at least 32767 (MPI 4.1, section 9.1.2)
/// MPI_Get_processor_name. With HOCKET_NODES=0,0,1,1, which pretends several nodes for the ranks of
/// MPI_COMM_WORLD, this rank's number follows.
/// @throws Error if HOCKET_NODES has no number for this rank.
std::string node_name();
inline constexpr char pretended_mark = '#';
int world_rank();  ///< in MPI_COMM_WORLD
/// Marks by which hocket recognises the processes of this program; nothing without a known
/// launcher.
std::optional<shm::Launcher> launcher();
/// A write to the connection of a process that has ended becomes an error here, as it is in Python,
/// unless the program has said what SIGPIPE does. By default that signal would end this process.
void outlive_connections();
/// Whether MPI's fault tolerance is on: by the launcher's options, the environment or a file of
/// settings.
bool tolerates_faults();
/// Whether the launcher reports that all ranks of MPI_COMM_WORLD are on this node.
bool all_on_one_node();

}  // namespace hocket::comm::vendor
