// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_handles.hpp"

#include <cstring>

#include "hocket/mpi.hpp"

namespace hocket::python {

Comm comm_of(std::uintptr_t handle) {
    MPI_Comm comm{};
    static_assert(sizeof comm <= sizeof handle);
    std::memcpy(&comm, &handle, sizeof comm);
    return from_mpi(comm);
}

std::uintptr_t handle_of(const Comm& comm) {
    const MPI_Comm user = to_mpi(comm);
    std::uintptr_t handle = 0;
    std::memcpy(&handle, &user, sizeof user);
    return handle;
}

std::shared_ptr<Operation> watched(std::uintptr_t handle) {
    MPI_Request request{};
    static_assert(sizeof request <= sizeof handle);
    std::memcpy(&request, &handle, sizeof request);
    return watch(request);
}

std::string library() {
    return mpi_library();
}

std::string built_with() {
#if defined(OMPI_MAJOR_VERSION)
    return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." +
           std::to_string(OMPI_MINOR_VERSION) + "." + std::to_string(OMPI_RELEASE_VERSION);
#elif defined(I_MPI_VERSION)
    return std::string("Intel MPI ") + I_MPI_VERSION;
#elif defined(MPICH_VERSION)
    return std::string("MPICH ") + MPICH_VERSION;
#else
    return mpi_library();
#endif
}

}  // namespace hocket::python
