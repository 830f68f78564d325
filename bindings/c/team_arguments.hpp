// SPDX-License-Identifier: BSD-3-Clause
// Common to the C functions of teams.
#pragma once

#include <utility>

#include "handles.hpp"
#include "hocket/team.hpp"

namespace hocket::c {

/// Runs `call` with the team of a handle, the arguments from `read`, and the options. If `read`
/// throws ArgumentError, the other processes of the team, which wait for this one, get an error.
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
                    Binding::refuse(team, op, message, options.barrier);
                } catch (const Error&) {  // this process raises its own error
                }
            });
        call(team, given, std::as_const(options));
    });
}

/// Operations whose result is one number with its own type.
template <class T, class Call>
int to_result(const char* function, team::Op op, hocket_team* handle, double timeout, T* result,
              Call call) noexcept {
    return with_team(
        function, op, handle, timeout, [&](TeamOptions&) { return &required(result, "result"); },
        [&](const Team& team, T* place, const TeamOptions& options) {
            *place = call(team, options);
        });
}

/// Operations whose result is a mask.
template <class Call>
int to_mask(const char* function, team::Op op, hocket_team* handle, double timeout,
            int64_t capacity, uint64_t* words, int64_t* count, Call call) noexcept {
    return with_team(
        function, op, handle, timeout, [&](TeamOptions&) { return &required(words, "words"); },
        [&](const Team& team, uint64_t* place, const TeamOptions& options) {
            write_list(call(team, options).words(), capacity, place, count);
        });
}

/// The type of `enum hocket_team_type`, possibly with a number of bits, which goes to the options.
/// @throws ArgumentError for an unknown type.
team::Type type_of(int type, TeamOptions& options);

}  // namespace hocket::c
