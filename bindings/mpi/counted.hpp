// SPDX-License-Identifier: BSD-3-Clause
// The functions with counts. calls.cpp includes it once for each type of counts.

HOCKET_MPI HOCKET_NAME(MPI_Recv)(void* buffer, HOCKET_COUNT count, MPI_Datatype type, int source,
                                 int tag, MPI_Comm comm, MPI_Status* status) {
    return message(
        "MPI_Recv", status,
        [&](MPI_Request* request) {
            return HOCKET_NAME(PMPI_Irecv)(buffer, count, type, source, tag, comm, request);
        },
        [&] { return HOCKET_NAME(PMPI_Recv)(buffer, count, type, source, tag, comm, status); });
}

#define HOCKET_SEND(name, nonblocking)                                                          \
    HOCKET_MPI HOCKET_NAME(name)(const void* buffer, HOCKET_COUNT count, MPI_Datatype type,     \
                                 int destination, int tag, MPI_Comm comm) {                     \
        return message(                                                                         \
            #name, MPI_STATUS_IGNORE,                                                           \
            [&](MPI_Request* request) {                                                         \
                return HOCKET_NAME(nonblocking)(buffer, count, type, destination, tag, comm,    \
                                                request);                                       \
            },                                                                                  \
            [&] { return HOCKET_NAME(P##name)(buffer, count, type, destination, tag, comm); }); \
    }

HOCKET_SEND(MPI_Send, PMPI_Isend)
HOCKET_SEND(MPI_Ssend, PMPI_Issend)

HOCKET_MPI HOCKET_NAME(MPI_Sendrecv)(const void* out, HOCKET_COUNT out_count, MPI_Datatype out_type,
                                     int destination, int out_tag, void* in, HOCKET_COUNT in_count,
                                     MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                                     MPI_Status* status) {
    if (may_pause()) {
        std::array<MPI_Status, 2> statuses;
        const int result = in_step<2>(
            [&](auto& requests) {
                const int failed = HOCKET_NAME(PMPI_Irecv)(in, in_count, in_type, source, in_tag,
                                                           comm, &requests[0]);
                if (failed != MPI_SUCCESS) return failed;
                return HOCKET_NAME(PMPI_Isend)(out, out_count, out_type, destination, out_tag, comm,
                                               &requests[1]);
            },
            statuses);
        give(statuses[0], status);
        return result;
    }
    const BlockedCall call("MPI_Sendrecv");
    return HOCKET_NAME(PMPI_Sendrecv)(out, out_count, out_type, destination, out_tag, in, in_count,
                                      in_type, source, in_tag, comm, status);
}

// A collective function has the arguments of its non-blocking form, but for the request.
#define HOCKET_COLLECTIVE(name, nonblocking, parameters, ...)                                      \
    HOCKET_MPI HOCKET_NAME(name) parameters {                                                      \
        return collective(                                                                         \
            #name, [&] { return HOCKET_NAME(P##name)(__VA_ARGS__); },                              \
            [&](MPI_Request* request) { return HOCKET_NAME(nonblocking)(__VA_ARGS__, request); }); \
    }

HOCKET_COLLECTIVE(MPI_Bcast, PMPI_Ibcast,
                  (void* buffer, HOCKET_COUNT count, MPI_Datatype type, int root, MPI_Comm comm),
                  buffer, count, type, root, comm)
HOCKET_COLLECTIVE(MPI_Reduce, PMPI_Ireduce,
                  (const void* out, void* in, HOCKET_COUNT count, MPI_Datatype type, MPI_Op op,
                   int root, MPI_Comm comm),
                  out, in, count, type, op, root, comm)
HOCKET_COLLECTIVE(MPI_Allreduce, PMPI_Iallreduce,
                  (const void* out, void* in, HOCKET_COUNT count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, count, type, op, comm)
HOCKET_COLLECTIVE(MPI_Scan, PMPI_Iscan,
                  (const void* out, void* in, HOCKET_COUNT count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, count, type, op, comm)
HOCKET_COLLECTIVE(MPI_Exscan, PMPI_Iexscan,
                  (const void* out, void* in, HOCKET_COUNT count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, count, type, op, comm)
HOCKET_COLLECTIVE(MPI_Gather, PMPI_Igather,
                  (const void* out, HOCKET_COUNT out_count, MPI_Datatype out_type, void* in,
                   HOCKET_COUNT in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Gatherv, PMPI_Igatherv,
                  (const void* out, HOCKET_COUNT out_count, MPI_Datatype out_type, void* in,
                   const HOCKET_COUNT in_counts[], const HOCKET_PLACE places[],
                   MPI_Datatype in_type, int root, MPI_Comm comm),
                  out, out_count, out_type, in, in_counts, places, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Scatter, PMPI_Iscatter,
                  (const void* out, HOCKET_COUNT out_count, MPI_Datatype out_type, void* in,
                   HOCKET_COUNT in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Scatterv, PMPI_Iscatterv,
                  (const void* out, const HOCKET_COUNT out_counts[], const HOCKET_PLACE places[],
                   MPI_Datatype out_type, void* in, HOCKET_COUNT in_count, MPI_Datatype in_type,
                   int root, MPI_Comm comm),
                  out, out_counts, places, out_type, in, in_count, in_type, root, comm)
HOCKET_COLLECTIVE(MPI_Allgather, PMPI_Iallgather,
                  (const void* out, HOCKET_COUNT out_count, MPI_Datatype out_type, void* in,
                   HOCKET_COUNT in_count, MPI_Datatype in_type, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, comm)
HOCKET_COLLECTIVE(MPI_Allgatherv, PMPI_Iallgatherv,
                  (const void* out, HOCKET_COUNT out_count, MPI_Datatype out_type, void* in,
                   const HOCKET_COUNT in_counts[], const HOCKET_PLACE places[],
                   MPI_Datatype in_type, MPI_Comm comm),
                  out, out_count, out_type, in, in_counts, places, in_type, comm)
HOCKET_COLLECTIVE(MPI_Alltoall, PMPI_Ialltoall,
                  (const void* out, HOCKET_COUNT out_count, MPI_Datatype out_type, void* in,
                   HOCKET_COUNT in_count, MPI_Datatype in_type, MPI_Comm comm),
                  out, out_count, out_type, in, in_count, in_type, comm)
HOCKET_COLLECTIVE(MPI_Alltoallv, PMPI_Ialltoallv,
                  (const void* out, const HOCKET_COUNT out_counts[],
                   const HOCKET_PLACE out_places[], MPI_Datatype out_type, void* in,
                   const HOCKET_COUNT in_counts[], const HOCKET_PLACE in_places[],
                   MPI_Datatype in_type, MPI_Comm comm),
                  out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm)
HOCKET_COLLECTIVE(MPI_Alltoallw, PMPI_Ialltoallw,
                  (const void* out, const HOCKET_COUNT out_counts[],
                   const HOCKET_PLACE out_places[], const MPI_Datatype out_types[], void* in,
                   const HOCKET_COUNT in_counts[], const HOCKET_PLACE in_places[],
                   const MPI_Datatype in_types[], MPI_Comm comm),
                  out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm)
HOCKET_COLLECTIVE(MPI_Reduce_scatter, PMPI_Ireduce_scatter,
                  (const void* out, void* in, const HOCKET_COUNT in_counts[], MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm),
                  out, in, in_counts, type, op, comm)
HOCKET_COLLECTIVE(MPI_Reduce_scatter_block, PMPI_Ireduce_scatter_block,
                  (const void* out, void* in, HOCKET_COUNT in_count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm),
                  out, in, in_count, type, op, comm)

#undef HOCKET_SEND
#undef HOCKET_COLLECTIVE
#undef HOCKET_NAME
#undef HOCKET_COUNT
#undef HOCKET_PLACE
