// SPDX-License-Identifier: BSD-3-Clause
#include "comm/vendor.hpp"

#include "base/port.hpp"

namespace hocket::comm::vendor {

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    return {text, static_cast<std::size_t>(length)};
}

std::string library() {
    std::string version = library_version();
    version = version.substr(0, version.find('\n'));
    // MPICH writes "MPICH Version:      5.0.2", Open MPI "Open MPI v5.0.11, package: …".
    if (const auto colon = version.find(" Version:"); colon != std::string::npos) {
        const auto digits = version.find_first_not_of(" \t", colon + 9);
        return version.substr(0, colon) +
               (digits == std::string::npos ? "" : " " + version.substr(digits));
    }
    version = version.substr(0, version.find(','));
    if (const auto v = version.find(" v"); v != std::string::npos) version.erase(v + 1, 1);
    return version;
}

int highest_tag() {
    int found = 0;
    int* value = nullptr;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    return found != 0 && value != nullptr ? *value : 32767;
}

int processes_of_this_node(MPI_Comm comm) {
    // A simulated host has its own memory, and SMPI's shared split opens host files it may lack.
    if constexpr (port::simulated) return 1;
    MPI_Comm node = MPI_COMM_NULL;
    int size = 1;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        MPI_Comm_size(node, &size);
        MPI_Comm_free(&node);
    }
    return size;
}

}  // namespace hocket::comm::vendor
