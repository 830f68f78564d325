// SPDX-License-Identifier: BSD-3-Clause
// Fortran's communicators and MPI requests, which are integers.
#include <optional>

#include "handles.hpp"
#include "hocket/mpi.hpp"

using namespace hocket::c;

namespace {

MPI_Comm comm_of(int fortran) {
    return hocket::to_mpi(hocket::from_fortran(fortran));
}

}  // namespace

int hocket_mpi_init(void) {
    return guard(__func__, [] {
        int running = 0, ended = 0;
        MPI_Initialized(&running);
        MPI_Finalized(&ended);
        if (ended != 0) throw hocket::Error("MPI has ended, and cannot be started again");
        int provided = 0;
        // Several threads may call, one at a time for each communicator; most MPIs allow this
        // anyway.
        if (running == 0 &&
            MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
            throw hocket::Error("MPI could not be started");
    });
}

int hocket_mpi_finalize(void) {
    return guard(__func__, [] {
        int running = 0, ended = 0;
        MPI_Initialized(&running);
        MPI_Finalized(&ended);
        if (running == 0) throw hocket::Error("MPI is not running: call hocket_mpi_init first");
        if (ended == 0 && MPI_Finalize() != MPI_SUCCESS)
            throw hocket::Error("MPI could not be ended");
    });
}

int hocket_comm_world(int* comm) {
    return guard(__func__,
                 [&] { required(comm, "comm") = hocket::to_fortran(hocket::Comm::world()); });
}

int hocket_comm_rank(int comm, int* rank) {
    return guard(__func__, [&] { required(rank, "rank") = hocket::from_fortran(comm).rank(); });
}

int hocket_comm_size(int comm, int* size) {
    return guard(__func__, [&] { required(size, "size") = hocket::from_fortran(comm).size(); });
}

int hocket_fail(int code, const char* message) {
    const int done = guard("", [&] {
        const std::string words = text_of(message, "message");
        if (class_of(code) == nullptr)
            throw ArgumentError("hocket_fail: " + std::to_string(code) + " is no code of an error");
        throw hocket::Error(words);
    });
    return class_of(code) == nullptr ? done : code;
}

int hocket_first_index_set(int64_t first_index) {
    return guard(__func__, [&] {
        if (first_index != 0 && first_index != 1)
            throw ArgumentError("'first_index' is " + std::to_string(first_index) +
                                "; give 0 or 1");
        hocket::Binding::set_first_index(first_index);
    });
}

int hocket_array_comm_fortran(const hocket_array* array, int* comm) {
    return guard(__func__,
                 [&] { required(comm, "comm") = hocket::to_fortran(behind(array)->value.comm()); });
}

int hocket_transfer_make_fortran(const hocket_layout* source, const hocket_layout* destination,
                                 const char* dtype, int64_t itemsize, int comm,
                                 const hocket_transfer_options* options, double timeout,
                                 hocket_transfer** transfer) {
    std::optional<MPI_Comm> on;
    const int code = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_transfer_make(source, destination, dtype, itemsize, *on, options, timeout,
                                     transfer)
              : code;
}

int hocket_tasks_make_fortran(int64_t count, const hocket_task_request* requests, int comm,
                              hocket_tasks** tasks) {
    std::optional<MPI_Comm> on;
    const int code = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_tasks_make(count, requests, *on, tasks) : code;
}

int hocket_tasks_from_launcher_fortran(int comm, hocket_tasks** tasks) {
    std::optional<MPI_Comm> on;
    const int code = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_tasks_from_launcher(*on, tasks) : code;
}

int hocket_tasks_comm_fortran(const hocket_tasks* tasks, int* comm) {
    return guard(__func__,
                 [&] { required(comm, "comm") = hocket::to_fortran(behind(tasks)->value.comm()); });
}

int hocket_team_make_fortran(int comm, double timeout, hocket_team** team) {
    std::optional<MPI_Comm> on;
    const int code = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_team_make(*on, timeout, team) : code;
}

int hocket_refuse_fortran(int comm, int code, const char* message, double timeout) {
    std::optional<MPI_Comm> on;
    const int wrong = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_refuse(*on, code, message, timeout) : wrong;
}

int hocket_tell_fortran(int comm, const char* text, int root, double timeout, const char** heard) {
    std::optional<MPI_Comm> on;
    const int code = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_tell(*on, text, root, timeout, heard) : code;
}

int hocket_layout_from_local_box_fortran(int comm, int64_t dimensions, const int64_t* start,
                                         const int64_t* stop, const int64_t* shape, double timeout,
                                         hocket_layout** layout) {
    std::optional<MPI_Comm> on;
    const int code = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_layout_from_local_box(*on, dimensions, start, stop, shape, timeout, layout)
              : code;
}

int hocket_layout_from_local_elements_fortran(int comm, int64_t count, const int64_t* elements,
                                              int64_t dimensions, const int64_t* shape,
                                              double timeout, hocket_layout** layout) {
    std::optional<MPI_Comm> on;
    const int code = guard(__func__, [&] { on = comm_of(comm); });
    return on ? hocket_layout_from_local_elements(*on, count, elements, dimensions, shape, timeout,
                                                  layout)
              : code;
}

int hocket_operation_from_request_fortran(int* request, hocket_operation** operation) {
    return guard(__func__, [&] {
        int& taken = required(request, "request");
        require(operation, "operation");
        hocket::Comm::world();  // MPI runs
        give(operation, hocket::operation(MPI_Request_f2c(taken)));
        taken = MPI_Request_c2f(MPI_REQUEST_NULL);
    });
}
