// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "dtype.hpp"
#include "handles.hpp"
#include "hocket/binding.hpp"
#include "hocket/mpi.hpp"
#include "hocket/transfer.hpp"
#include "transfer_options.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Transfer;

int hocket_transfer_make(const hocket_layout* source, const hocket_layout* destination,
                         const char* dtype, int64_t itemsize, MPI_Comm comm,
                         const hocket_transfer_options* options, double timeout,
                         hocket_transfer** transfer) {
    const char* const function = __func__;
    return guard(function, [&] {
        const hocket::Comm on = hocket::from_mpi(comm);
        struct Arguments {
            hocket::Layout from, to;
            std::optional<hocket::DType> dtype;
            hocket::RedistributeOptions options;
        };
        const auto given = arguments_of(
            function,
            [&] {
                require(transfer, "transfer");
                Arguments all{behind(source)->value, behind(destination)->value, {}, {}};
                if (dtype != nullptr) all.dtype = dtype_of_name(dtype, itemsize);
                all.options = transfer_options_of(options, all.from.dimensions());
                all.options.deadline = deadline_of(timeout);
                return all;
            },
            [&](const std::string& message) {
                hocket::Binding::refuse(on, argument_error, message);
            });
        give(transfer, Transfer(given.from, given.to, given.dtype, on, given.options));
    });
}

int hocket_transfer_free(hocket_transfer** transfer) {
    return guard(__func__, [&] {
        behind(required(transfer, "transfer"))->value.free();
        leave(*transfer, Behind<hocket_transfer>::noun);
        *transfer = nullptr;
    });
}

namespace {

// The arrays of a start; errors of the handles reach the other processes, too.
std::pair<Array, Array> arrays_of(const char* function, Transfer& transfer,
                                  const hocket_array* source, const hocket_array* destination) {
    return arguments_of(
        function, [&] { return std::pair(behind(source)->value, behind(destination)->value); },
        [&](const std::string& message) { transfer.refuse(argument_error, message); });
}

}  // namespace

int hocket_transfer_start(hocket_transfer* transfer, const hocket_array* source,
                          hocket_array* destination) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(transfer);
        const auto [from, to] = arrays_of(function, held->value, source, destination);
        held->value.start(from, to);
    });
}

int hocket_transfer_refuse(hocket_transfer* transfer, int code, const char* message) {
    return guard(__func__, [&] {
        const auto held = behind(transfer);
        const std::string words = text_of(message, "message");
        if (class_of(code) == nullptr)
            throw ArgumentError(std::to_string(code) + " is no code of an error");
        held->value.refuse(class_of(code), words);
    });
}

int hocket_transfer_wait(hocket_transfer* transfer, double timeout) {
    return guard(__func__, [&] { behind(transfer)->value.wait(deadline_of(timeout)); });
}

int hocket_transfer_test(hocket_transfer* transfer, bool* done) {
    return guard(__func__, [&] {
        const auto held = behind(transfer);
        required(done, "done") = held->value.test();
    });
}

int hocket_transfer_operation(const hocket_transfer* transfer, hocket_operation** operation) {
    return guard(__func__, [&] {
        require(operation, "operation");
        give(operation, behind(transfer)->value.operation());
    });
}

int hocket_transfer_start_later(const hocket_transfer* transfer, const hocket_array* source,
                                hocket_array* destination, hocket_operation** operation) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(transfer);
        require(operation, "operation");
        const auto [from, to] = arrays_of(function, held->value, source, destination);
        give(operation, held->value.start_later(from, to));
    });
}
