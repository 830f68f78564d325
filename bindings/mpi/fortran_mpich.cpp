// SPDX-License-Identifier: BSD-3-Clause
// The procedures without buffers of MPICH's module mpi_f08, which call its C functions past the
// profiling interface. Handles and statuses are those of C.
#include <mpi.h>

#ifdef MPICH_VERSION

extern "C" {
// An MPICH without Fortran lacks them.
extern MPI_F08_status* MPI_F08_STATUS_IGNORE __attribute__((weak));
extern MPI_F08_status* MPI_F08_STATUSES_IGNORE __attribute__((weak));
}

namespace {

MPI_Status* status_of(MPI_F08_status* status) {
    const bool ignored = status == MPI_F08_STATUS_IGNORE;
    return ignored ? MPI_STATUS_IGNORE : reinterpret_cast<MPI_Status*>(status);
}

MPI_Status* statuses_of(MPI_F08_status* statuses) {
    const bool ignored = statuses == MPI_F08_STATUSES_IGNORE;
    return ignored ? MPI_STATUSES_IGNORE : reinterpret_cast<MPI_Status*>(statuses);
}

/// The argument is optional.
void give(int* error, int result) {
    if (error != nullptr) *error = result;
}

}  // namespace

#define HOCKET_F08(name, parameters)                                                     \
    extern "C" __attribute__((visibility("default"))) void mpi_##name##_f08_ parameters; \
    extern "C" void mpi_##name##_f08_ parameters

HOCKET_F08(barrier, (MPI_Comm * comm, int* error)) {
    give(error, MPI_Barrier(*comm));
}

HOCKET_F08(probe, (int* source, int* tag, MPI_Comm* comm, MPI_F08_status* status, int* error)) {
    give(error, MPI_Probe(*source, *tag, *comm, status_of(status)));
}

HOCKET_F08(wait, (MPI_Request * request, MPI_F08_status* status, int* error)) {
    give(error, MPI_Wait(request, status_of(status)));
}

HOCKET_F08(waitall, (int* count, MPI_Request* requests, MPI_F08_status* statuses, int* error)) {
    give(error, MPI_Waitall(*count, requests, statuses_of(statuses)));
}

HOCKET_F08(waitany,
           (int* count, MPI_Request* requests, int* index, MPI_F08_status* status, int* error)) {
    give(error, MPI_Waitany(*count, requests, index, status_of(status)));
    if (*index != MPI_UNDEFINED) ++*index;  // Fortran counts from 1, which MPICH 4.0 does not
}

#endif
