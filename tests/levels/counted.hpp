// SPDX-License-Identifier: BSD-3-Clause
// Who is in MPI: the calls that a flow makes, seen through MPI's profiling interface.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>

namespace counted {

inline std::atomic<int> inside{0};         // threads in MPI now
inline std::atomic<int> most_inside{0};    // at any time
inline std::atomic<long> off_main{0};      // calls by other threads than the main one
inline std::atomic<long> one_by_one{0};    // MPI_Test
inline std::atomic<long> together{0};      // MPI_Testsome, MPI_Request_get_status_some
inline std::atomic<int> most_together{0};  // requests in one of these

inline void forget() {
    most_inside = 0;
    off_main = 0;
    one_by_one = 0;
    together = 0;
    most_together = 0;
}

inline void at_least(std::atomic<int>& most, int value) {
    for (int seen = most; seen < value && !most.compare_exchange_weak(seen, value);) {
    }
}

class Call {
  public:
    Call() {
        at_least(most_inside, ++inside);
        int main_thread = 0;
        PMPI_Is_thread_main(&main_thread);
        if (main_thread == 0) ++off_main;
    }
    ~Call() { --inside; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
};

}  // namespace counted

extern "C" {

inline __attribute__((used)) int MPI_Isend(const void* data, int count, MPI_Datatype type, int to,
                                           int tag, MPI_Comm comm, MPI_Request* request) {
    const counted::Call call;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

inline __attribute__((used)) int MPI_Irecv(void* data, int count, MPI_Datatype type, int from,
                                           int tag, MPI_Comm comm, MPI_Request* request) {
    const counted::Call call;
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

inline __attribute__((used)) int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* found,
                                            MPI_Status* status) {
    const counted::Call call;
    return PMPI_Iprobe(from, tag, comm, found, status);
}

inline __attribute__((used)) int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
    const counted::Call call;
    ++counted::one_by_one;
    return PMPI_Test(request, done, status);
}

inline __attribute__((used)) int MPI_Testsome(int count, MPI_Request* requests, int* found,
                                              int* indices, MPI_Status* statuses) {
    const counted::Call call;
    ++counted::together;
    counted::at_least(counted::most_together, count);
    return PMPI_Testsome(count, requests, found, indices, statuses);
}
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
inline __attribute__((used)) int MPI_Request_get_status_some(int count, const MPI_Request* requests,
                                                             int* found, int* indices,
                                                             MPI_Status* statuses) {
    const counted::Call call;
    ++counted::together;
    counted::at_least(counted::most_together, count);
    return PMPI_Request_get_status_some(count, requests, found, indices, statuses);
}
#endif
}
