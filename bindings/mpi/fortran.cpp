// SPDX-License-Identifier: BSD-3-Clause
// The Fortran procedures of Open MPI, which call its own C functions past the profiling interface:
// `mpi_recv_` of mpif.h and the module mpi, `ompi_recv_f` below the module mpi_f08. Most of MPICH's
// call the functions of calls.cpp; fortran_mpich.cpp has the others.
#include <mpi.h>

#ifdef OPEN_MPI

#include <vector>

extern "C" {
// Defined by Open MPI's library for Fortran, if the program is linked with it.
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
}

namespace {

/// A buffer of Fortran, whose constants have addresses of their own.
template <class T>
T* buffer_of(T* given) {
    const void* const place = given;
    if (place == &mpi_fortran_bottom_) return static_cast<T*>(MPI_BOTTOM);
    if (place == &mpi_fortran_in_place_) return static_cast<T*>(MPI_IN_PLACE);
    return given;
}

MPI_Comm comm_of(const MPI_Fint* comm) {
    return MPI_Comm_f2c(*comm);
}
MPI_Datatype type_of(const MPI_Fint* type) {
    return MPI_Type_f2c(*type);
}
MPI_Op op_of(const MPI_Fint* op) {
    return MPI_Op_f2c(*op);
}

std::vector<MPI_Datatype> types_of(const MPI_Fint* types, const MPI_Fint* comm) {
    int size = 0, between = 0;
    PMPI_Comm_test_inter(comm_of(comm), &between);
    if (between != 0)
        PMPI_Comm_remote_size(comm_of(comm), &size);
    else
        PMPI_Comm_size(comm_of(comm), &size);
    std::vector<MPI_Datatype> all;
    for (int i = 0; i < size; ++i) all.push_back(MPI_Type_f2c(types[i]));
    return all;
}

/// Calls `function(status)`, and gives Fortran the status unless it ignores it.
template <class Function>
void with_status(MPI_Fint* status, MPI_Fint* error, Function&& function) {
    if (status == MPI_F_STATUS_IGNORE) {
        *error = function(MPI_STATUS_IGNORE);
        return;
    }
    MPI_Status found;
    *error = function(&found);
    if (*error == MPI_SUCCESS) MPI_Status_c2f(&found, status);
}

/// Requests of Fortran, given back when the call has ended.
class Requests {
  public:
    Requests(MPI_Fint count, MPI_Fint* requests) : fortran_(requests) {
        for (MPI_Fint i = 0; i < count; ++i) all_.push_back(MPI_Request_f2c(requests[i]));
    }
    ~Requests() {
        for (std::size_t i = 0; i < all_.size(); ++i) fortran_[i] = MPI_Request_c2f(all_[i]);
    }
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;
    MPI_Request* data() { return all_.data(); }

  private:
    MPI_Fint* fortran_;
    std::vector<MPI_Request> all_;
};

}  // namespace

// Two names of one procedure.
#define HOCKET_FORTRAN(name, parameters)                                                 \
    extern "C" __attribute__((visibility("default"))) void mpi_##name##_ parameters;     \
    extern "C" __attribute__((visibility("default"),                                     \
                              alias("mpi_" #name "_"))) void ompi_##name##_f parameters; \
    extern "C" void mpi_##name##_ parameters

HOCKET_FORTRAN(recv, (void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* source,
                      MPI_Fint* tag, MPI_Fint* comm, MPI_Fint* status, MPI_Fint* error)) {
    with_status(status, error, [&](MPI_Status* found) {
        return MPI_Recv(buffer_of(buffer), *count, type_of(type), *source, *tag, comm_of(comm),
                        found);
    });
}

HOCKET_FORTRAN(send, (const void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* destination,
                      MPI_Fint* tag, MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Send(buffer_of(buffer), *count, type_of(type), *destination, *tag, comm_of(comm));
}

HOCKET_FORTRAN(ssend, (const void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* destination,
                       MPI_Fint* tag, MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Ssend(buffer_of(buffer), *count, type_of(type), *destination, *tag, comm_of(comm));
}

HOCKET_FORTRAN(sendrecv, (const void* out, MPI_Fint* out_count, MPI_Fint* out_type,
                          MPI_Fint* destination, MPI_Fint* out_tag, void* in, MPI_Fint* in_count,
                          MPI_Fint* in_type, MPI_Fint* source, MPI_Fint* in_tag, MPI_Fint* comm,
                          MPI_Fint* status, MPI_Fint* error)) {
    with_status(status, error, [&](MPI_Status* found) {
        return MPI_Sendrecv(buffer_of(out), *out_count, type_of(out_type), *destination, *out_tag,
                            buffer_of(in), *in_count, type_of(in_type), *source, *in_tag,
                            comm_of(comm), found);
    });
}

HOCKET_FORTRAN(wait, (MPI_Fint * request, MPI_Fint* status, MPI_Fint* error)) {
    with_status(status, error, [&](MPI_Status* found) {
        Requests one(1, request);
        return MPI_Wait(one.data(), found);
    });
}

HOCKET_FORTRAN(waitall,
               (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* error)) {
    constexpr auto words = sizeof(MPI_Status) / sizeof(int);
    const bool ignored = statuses == MPI_F_STATUSES_IGNORE;
    std::vector<MPI_Status> found(static_cast<std::size_t>(ignored ? 0 : *count));
    {
        Requests all(*count, requests);
        *error = MPI_Waitall(*count, all.data(), ignored ? MPI_STATUSES_IGNORE : found.data());
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        if (*error == MPI_SUCCESS || *error == MPI_ERR_IN_STATUS)
            MPI_Status_c2f(&found[i], statuses + i * words);
}

HOCKET_FORTRAN(waitany, (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* status,
                         MPI_Fint* error)) {
    with_status(status, error, [&](MPI_Status* found) {
        Requests all(*count, requests);
        int first = MPI_UNDEFINED;
        const int result = MPI_Waitany(*count, all.data(), &first, found);
        *index = first == MPI_UNDEFINED ? MPI_UNDEFINED : first + 1;  // Fortran counts from 1
        return result;
    });
}

HOCKET_FORTRAN(probe, (MPI_Fint * source, MPI_Fint* tag, MPI_Fint* comm, MPI_Fint* status,
                       MPI_Fint* error)) {
    with_status(status, error,
                [&](MPI_Status* found) { return MPI_Probe(*source, *tag, comm_of(comm), found); });
}

HOCKET_FORTRAN(barrier, (MPI_Fint * comm, MPI_Fint* error)) {
    *error = MPI_Barrier(comm_of(comm));
}

HOCKET_FORTRAN(bcast, (void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* root,
                       MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Bcast(buffer_of(buffer), *count, type_of(type), *root, comm_of(comm));
}

HOCKET_FORTRAN(reduce, (const void* out, void* in, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                        MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Reduce(buffer_of(out), buffer_of(in), *count, type_of(type), op_of(op), *root,
                        comm_of(comm));
}

#define HOCKET_FORTRAN_SUMS(name, function)                                                \
    HOCKET_FORTRAN(name, (const void* out, void* in, MPI_Fint* count, MPI_Fint* type,      \
                          MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error)) {                \
        *error = function(buffer_of(out), buffer_of(in), *count, type_of(type), op_of(op), \
                          comm_of(comm));                                                  \
    }
HOCKET_FORTRAN_SUMS(allreduce, MPI_Allreduce)
HOCKET_FORTRAN_SUMS(scan, MPI_Scan)
HOCKET_FORTRAN_SUMS(exscan, MPI_Exscan)
HOCKET_FORTRAN_SUMS(reduce_scatter_block, MPI_Reduce_scatter_block)

HOCKET_FORTRAN(reduce_scatter, (const void* out, void* in, MPI_Fint* counts, MPI_Fint* type,
                                MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Reduce_scatter(buffer_of(out), buffer_of(in), counts, type_of(type), op_of(op),
                                comm_of(comm));
}

#define HOCKET_FORTRAN_ROOTED(name, function)                                                      \
    HOCKET_FORTRAN(name, (const void* out, MPI_Fint* out_count, MPI_Fint* out_type, void* in,      \
                          MPI_Fint* in_count, MPI_Fint* in_type, MPI_Fint* root, MPI_Fint* comm,   \
                          MPI_Fint* error)) {                                                      \
        *error = function(buffer_of(out), *out_count, type_of(out_type), buffer_of(in), *in_count, \
                          type_of(in_type), *root, comm_of(comm));                                 \
    }
HOCKET_FORTRAN_ROOTED(gather, MPI_Gather)
HOCKET_FORTRAN_ROOTED(scatter, MPI_Scatter)

HOCKET_FORTRAN(gatherv, (const void* out, MPI_Fint* out_count, MPI_Fint* out_type, void* in,
                         MPI_Fint* in_counts, MPI_Fint* places, MPI_Fint* in_type, MPI_Fint* root,
                         MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Gatherv(buffer_of(out), *out_count, type_of(out_type), buffer_of(in), in_counts,
                         places, type_of(in_type), *root, comm_of(comm));
}

HOCKET_FORTRAN(scatterv, (const void* out, MPI_Fint* out_counts, MPI_Fint* places,
                          MPI_Fint* out_type, void* in, MPI_Fint* in_count, MPI_Fint* in_type,
                          MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Scatterv(buffer_of(out), out_counts, places, type_of(out_type), buffer_of(in),
                          *in_count, type_of(in_type), *root, comm_of(comm));
}

#define HOCKET_FORTRAN_ALL(name, function)                                                         \
    HOCKET_FORTRAN(name,                                                                           \
                   (const void* out, MPI_Fint* out_count, MPI_Fint* out_type, void* in,            \
                    MPI_Fint* in_count, MPI_Fint* in_type, MPI_Fint* comm, MPI_Fint* error)) {     \
        *error = function(buffer_of(out), *out_count, type_of(out_type), buffer_of(in), *in_count, \
                          type_of(in_type), comm_of(comm));                                        \
    }
HOCKET_FORTRAN_ALL(allgather, MPI_Allgather)
HOCKET_FORTRAN_ALL(alltoall, MPI_Alltoall)

HOCKET_FORTRAN(allgatherv, (const void* out, MPI_Fint* out_count, MPI_Fint* out_type, void* in,
                            MPI_Fint* in_counts, MPI_Fint* places, MPI_Fint* in_type,
                            MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Allgatherv(buffer_of(out), *out_count, type_of(out_type), buffer_of(in), in_counts,
                            places, type_of(in_type), comm_of(comm));
}

HOCKET_FORTRAN(alltoallv, (const void* out, MPI_Fint* out_counts, MPI_Fint* out_places,
                           MPI_Fint* out_type, void* in, MPI_Fint* in_counts, MPI_Fint* in_places,
                           MPI_Fint* in_type, MPI_Fint* comm, MPI_Fint* error)) {
    *error = MPI_Alltoallv(buffer_of(out), out_counts, out_places, type_of(out_type), buffer_of(in),
                           in_counts, in_places, type_of(in_type), comm_of(comm));
}

HOCKET_FORTRAN(alltoallw, (const void* out, MPI_Fint* out_counts, MPI_Fint* out_places,
                           MPI_Fint* out_types, void* in, MPI_Fint* in_counts, MPI_Fint* in_places,
                           MPI_Fint* in_types, MPI_Fint* comm, MPI_Fint* error)) {
    const auto sent = types_of(out_types, comm), received = types_of(in_types, comm);
    *error = MPI_Alltoallw(buffer_of(out), out_counts, out_places, sent.data(), buffer_of(in),
                           in_counts, in_places, received.data(), comm_of(comm));
}

#endif
