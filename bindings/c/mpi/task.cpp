// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/task.hpp"

#include "handles.hpp"
#include "hocket/mpi.hpp"
#include "profile.hpp"
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Deadline;
using hocket::Tasks;

namespace {

std::vector<hocket::TaskRequest> requests_of(std::int64_t count,
                                             const hocket_task_request* requests) {
    std::vector<hocket::TaskRequest> out;
    for (const auto& [name, processes, ranks] : list(count, requests, "requests")) {
        const std::string called = text_of(name, "name");
        if (ranks == nullptr) {
            out.push_back({called, processes});
        } else {
            const auto all = list(processes, ranks, "ranks");
            out.push_back({called, std::vector<int>(all.begin(), all.end())});
        }
    }
    return out;
}

}  // namespace

int hocket_tasks_make(int64_t count, const hocket_task_request* requests, MPI_Comm comm,
                      hocket_tasks** tasks) {
    const char* const function = __func__;
    return guard(function, [&] {
        const hocket::Comm on = hocket::from_mpi(comm);
        const auto asked = arguments_of(
            function,
            [&] {
                require(tasks, "tasks");
                return requests_of(count, requests);
            },
            [&](const std::string& message) {
                hocket::Binding::refuse(on, argument_error, message);
            });
        give(tasks, Tasks(asked, on));
    });
}

int hocket_tasks_from_launcher(MPI_Comm comm, hocket_tasks** tasks) {
    return guard(__func__, [&] {
        require(tasks, "tasks");
        give(tasks, Tasks::from_launcher(hocket::from_mpi(comm)));
    });
}

int hocket_tasks_free(hocket_tasks** tasks) {
    return free_handle(__func__, tasks);
}

int hocket_tasks_name(const hocket_tasks* tasks, const char** name) {
    return guard(__func__, [&] {
        const auto held = behind(tasks);
        const auto& own = held->value.name();
        required(name, "name") = own ? held->keep(*own) : nullptr;
    });
}

int hocket_tasks_rank(const hocket_tasks* tasks, int* rank) {
    return guard(__func__, [&] { required(rank, "rank") = behind(tasks)->value.rank(); });
}

int hocket_tasks_comm(const hocket_tasks* tasks, MPI_Comm* comm) {
    return guard(__func__,
                 [&] { required(comm, "comm") = hocket::to_mpi(behind(tasks)->value.comm()); });
}

int hocket_tasks_size(const hocket_tasks* tasks, int* size) {
    return guard(__func__, [&] { required(size, "size") = behind(tasks)->value.size(); });
}

int hocket_tasks_name_of(const hocket_tasks* tasks, int index, const char** name) {
    return guard(__func__, [&] {
        const auto held = behind(tasks);
        const auto& names = held->value.names();
        if (index < 0 || index >= static_cast<int>(names.size()))
            throw ArgumentError("there is no task " + std::to_string(index) + "; there are " +
                                std::to_string(names.size()));
        required(name, "name") = held->keep(names[static_cast<std::size_t>(index)]);
    });
}

int hocket_tasks_task(const hocket_tasks* tasks, hocket_task_id id, hocket_tasks** view) {
    return guard(__func__, [&] { give(view, behind(tasks)->value.task(id_of(id))); });
}

int hocket_tasks_probe(hocket_tasks* tasks, hocket_task_id source, int tag, double timeout,
                       hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Deadline deadline =
            arguments_of_verb(function, held->value, "probe", [&] { return deadline_of(timeout); });
        give_status(status, held->value.probe(id_of(source), tag, deadline));
    });
}

int hocket_tasks_iprobe(hocket_tasks* tasks, hocket_task_id source, int tag, bool* found,
                        hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        bool* const there = arguments_of_verb(function, held->value, "iprobe",
                                              [&] { return &required(found, "found"); });
        auto seen = held->value.iprobe(id_of(source), tag);
        if (seen) give_status(status, std::move(*seen));
        *there = seen.has_value();
    });
}

int hocket_tasks_refuse(hocket_tasks* tasks, const char* verb, int code, const char* message,
                        double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const std::string which = text_of(verb, "verb");
        const Deadline deadline = arguments_of_verb(function, held->value, which.c_str(), [&] {
            static_cast<void>(text_of(message, "message"));
            if (class_of(code) == nullptr)
                throw ArgumentError(std::to_string(code) + " is no code of an error");
            return deadline_of(timeout);
        });
        hocket::Binding::refuse(held->value, which, class_of(code), message, deadline);
    });
}

int hocket_tasks_profile(const hocket_tasks* tasks, hocket_profile* profile) {
    return guard(__func__, [&] {
        required(profile, "profile") = profile_of(behind(tasks)->value.profile());
    });
}

int hocket_tasks_add_to_profile(hocket_tasks* tasks, const hocket_profile* more) {
    return guard(__func__, [&] {
        hocket::Binding::add_to_profile(behind(tasks)->value, profile_of(required(more, "more")));
    });
}
