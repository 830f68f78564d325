// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/transfer.hpp"

#include <optional>

#include "handles.hpp"
#include "hocket/mpi.hpp"
#include "profile.hpp"
#include "transfer_options.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::RedistributeOptions;

namespace {

// The array behind a handle, if there is one.
std::optional<Array> array_behind(const hocket_array* array) {
    try {
        return behind(array)->value;
    } catch (const ArgumentError&) {
        return std::nullopt;
    }
}

// Makes the call fail on all processes, if any of its arrays gives the communicator.
void refuse_with(const std::string& message, const hocket_array* a, const hocket_array* b) {
    for (const auto* each : {a, b})
        if (const auto array = array_behind(each))
            hocket::Binding::refuse(array->comm(), argument_error, message);
}

struct Arguments {
    Array from, to;
    RedistributeOptions options;
};

Arguments arguments_for(const char* function, const hocket_array* source,
                        const hocket_array* destination, const hocket_transfer_options* options,
                        double timeout) {
    return arguments_of(
        function,
        [&] {
            Arguments all{behind(source)->value, behind(destination)->value, {}};
            all.options = transfer_options_of(options, all.from.layout().dimensions());
            all.options.deadline = deadline_of(timeout);
            return all;
        },
        [&](const std::string& message) { refuse_with(message, source, destination); });
}

// For scatter and gather: only the root passes the whole array.
RedistributeOptions rooted_options(const char* function, const Array& array, const void* whole,
                                   int root, double timeout) {
    return arguments_of(
        function,
        [&] {
            RedistributeOptions options;
            options.deadline = deadline_of(timeout);
            if (array.comm().rank() == root && array.layout().num_elements() > 0)
                require(whole, "whole");
            return options;
        },
        [&](const std::string& message) {
            hocket::Binding::refuse(array.comm(), argument_error, message);
        });
}

}  // namespace

int hocket_redistribute(const hocket_array* source, hocket_array* destination,
                        const hocket_transfer_options* options, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        auto given = arguments_for(function, source, destination, options, timeout);
        if (options != nullptr && options->profile != nullptr)
            given.options.profile = std::make_shared<hocket::Profile>();
        hocket::redistribute(given.from, given.to, given.options);
        if (given.options.profile) add(*options->profile, *given.options.profile);
    });
}

int hocket_iredistribute(const hocket_array* source, hocket_array* destination,
                         const hocket_transfer_options* options, hocket_operation** operation) {
    const char* const function = __func__;
    return guard(function, [&] {
        require(operation, "operation");  // before the redistribution starts
        const auto given = arguments_for(function, source, destination, options, -1);
        give(operation, hocket::iredistribute(given.from, given.to, given.options));
    });
}

int hocket_scatter(const void* whole, hocket_array* destination, int root, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto array = behind(destination);
        const auto options = rooted_options(function, array->value, whole, root, timeout);
        hocket::scatter(whole, array->value, root, options);
    });
}

int hocket_gather(const hocket_array* source, void* whole, int root, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto array = behind(source);
        const auto options = rooted_options(function, array->value, whole, root, timeout);
        hocket::gather(array->value, whole, root, options);
    });
}

int hocket_refuse(MPI_Comm comm, int code, const char* message, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const hocket::Comm on = hocket::from_mpi(comm);
        arguments_of(
            function,
            [&] {
                static_cast<void>(deadline_of(timeout));
                static_cast<void>(text_of(message, "message"));
                if (class_of(code) == nullptr)
                    throw ArgumentError(std::to_string(code) + " is no code of an error");
                return 0;
            },
            [&](const std::string& wrong) { hocket::Binding::refuse(on, argument_error, wrong); });
        hocket::Binding::refuse(on, class_of(code), message, deadline_of(timeout));
    });
}

int hocket_tell(MPI_Comm comm, const char* text, int root, double timeout, const char** heard) {
    return guard(__func__, [&] {
        static thread_local std::string last;
        const char*& place = required(heard, "heard");
        last = hocket::tell(hocket::from_mpi(comm), text != nullptr ? text : "", root,
                            deadline_of(timeout));
        place = last.c_str();
    });
}

namespace {

// Reads this process's arguments; for wrong ones all processes of the call get the error.
template <class Make>
auto arguments_on(const char* function, const hocket::Comm& comm, Make make) {
    return arguments_of(function, make, [&](const std::string& message) {
        hocket::Binding::refuse(comm, "Error", message);
    });
}

hocket::Shape numbers_of(std::span<const std::int64_t> values) {
    return {values.begin(), values.end()};
}

}  // namespace

int hocket_layout_from_local_box(MPI_Comm comm, int64_t dimensions, const int64_t* start,
                                 const int64_t* stop, const int64_t* shape, double timeout,
                                 hocket_layout** layout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto on = hocket::from_mpi(comm);
        struct Arguments {
            hocket::IndexBox part;
            hocket::Shape shape;
            hocket::Deadline deadline;
        };
        const auto given = arguments_on(function, on, [&] {
            require(layout, "layout");
            return Arguments{{numbers_of(by_dimension(dimensions, start, "start")),
                              numbers_of(by_dimension(dimensions, stop, "stop"))},
                             shape == nullptr
                                 ? hocket::Shape{}
                                 : numbers_of(by_dimension(dimensions, shape, "shape")),
                             deadline_of(timeout)};
        });
        give(layout, hocket::layout_from_local(on, given.part, given.shape, given.deadline));
    });
}

int hocket_layout_from_local_elements(MPI_Comm comm, int64_t count, const int64_t* elements,
                                      int64_t dimensions, const int64_t* shape, double timeout,
                                      hocket_layout** layout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto on = hocket::from_mpi(comm);
        struct Arguments {
            hocket::Shape elements, shape;
            hocket::Deadline deadline;
        };
        const auto given = arguments_on(function, on, [&] {
            require(layout, "layout");
            return Arguments{
                numbers_of(list(count, elements, "elements", most_in_memory<std::int64_t>())),
                shape == nullptr ? hocket::Shape{}
                                 : numbers_of(by_dimension(dimensions, shape, "shape")),
                deadline_of(timeout)};
        });
        give(layout, hocket::layout_from_local(on, given.elements, given.shape, given.deadline));
    });
}

int hocket_plan_cache_counts(hocket_cache_counts* counts) {
    return guard(__func__, [&] {
        const auto [found, made, kept] = hocket::plan_cache_counts();
        required(counts, "counts") = {found, made, kept};
    });
}

int hocket_transfer_counts(hocket_message_counts* counts) {
    return guard(__func__, [&] {
        const auto [sent, received] = hocket::transfer_counts();
        required(counts, "counts") = {sent, received};
    });
}

int hocket_descriptor_counts(hocket_message_counts* counts) {
    return guard(__func__, [&] {
        const auto all = hocket::descriptor_counts();
        required(counts, "counts") = {all.sent, all.received};
    });
}
