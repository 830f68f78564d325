// SPDX-License-Identifier: BSD-3-Clause
// What the C functions of teams share.
#pragma once

#include <utility>

#include "handles.hpp"
#include "hocket/team.hpp"

namespace hocket::c {

/// Runs `call` with the team behind a handle, the arguments that `read` gives, and the options.
/// Where `read` throws ArgumentError, the other processes of the team are told, as they wait for
/// this one.
template <class Read, class Call>
int with_team(const char* function, team::Op op, hocket_team* handle, double timeout, Read read,
              Call call) noexcept {
    return guard(function, [&] {
        const auto held = behind(handle);
        const Team& team = held->value;
        TeamOptions options;
        const auto given = arguments_of(
            function,
            [&] {
                options.deadline = deadline_of(timeout);
                return read(options);
            },
            [&](const std::string& message) {
                try {
                    Binding::refuse(team, op, message);
                } catch (const Error&) {  // this process raises its own
                }
            });
        call(team, given, std::as_const(options));
    });
}

/// The operations whose result is one number, of its own type whatever the values' is.
template <class T, class Call>
int to_result(const char* function, team::Op op, hocket_team* handle, double timeout, T* result,
              Call call) noexcept {
    return with_team(
        function, op, handle, timeout, [&](TeamOptions&) { return &required(result, "result"); },
        [&](const Team& team, T* place, const TeamOptions& options) {
            *place = call(team, options);
        });
}

/// Those whose result is a mask.
template <class Call>
int to_mask(const char* function, team::Op op, hocket_team* handle, double timeout,
            int64_t capacity, uint64_t* words, int64_t* count, Call call) noexcept {
    return with_team(
        function, op, handle, timeout, [&](TeamOptions&) { return &required(words, "words"); },
        [&](const Team& team, uint64_t* place, const TeamOptions& options) {
            start_fd_server(call(team, options).words(), capacity, place, count);
        });
}

/// Of `enum hocket_team_type`, perhaps with a number of bits, which goes to the options.
/// @throws ArgumentError for a number that is no type.
team::Type type_of(int type, TeamOptions& options);

}  // namespace hocket::c
