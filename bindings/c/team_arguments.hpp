// SPDX-License-Identifier: BSD-3-Clause
// What the C functions of teams share.
#pragma once

#include <utility>

#include "handles.hpp"
#include "hocket/team.hpp"

namespace hocket::c {

/// Runs `call` with the team behind a handle, and the options. Where an argument cannot be used,
/// the other processes of the team are told, as they wait for this one.
template <class Result, class Call>
int with_team(const char* function, team::Op op, hocket_team* handle, int bits, double timeout,
              Result* result, const char* name, Call&& call) noexcept {
    return guard(function, [&] {
        const Team team = behind(handle)->value;
        TeamOptions options;
        try {
            require(result, name);
            options.narrow = bits;
            options.deadline = deadline_of(timeout);
        } catch (const ArgumentError& error) {
            try {
                team.refuse(op, std::string(function) + ": " + error.what());
            } catch (const Error&) {  // this process raises its own
            }
            throw;
        }
        call(team, std::as_const(options), *result);
    });
}

/// The functions of one value, and one result of its type.
template <class T>
int of_value(const char* function, team::Op op, hocket_team* handle,
             T (Team::*method)(T, const TeamOptions&) const, T value, int bits, double timeout,
             T* result) noexcept {
    return with_team(function, op, handle, bits, timeout, result, "result",
                     [&](const Team& team, const TeamOptions& options, T& found) {
                         found = (team.*method)(value, options);
                     });
}

/// Those that count processes.
template <class T>
int count_of(const char* function, team::Op op, hocket_team* handle,
             int (Team::*method)(T, const TeamOptions&) const, T value, int bits, double timeout,
             int* result) noexcept {
    return with_team(function, op, handle, bits, timeout, result, "result",
                     [&](const Team& team, const TeamOptions& options, int& found) {
                         found = (team.*method)(value, options);
                     });
}

/// Those that give a mask.
template <class T>
int mask_of(const char* function, team::Op op, hocket_team* handle,
            Mask (Team::*method)(T, const TeamOptions&) const, T value, int bits, double timeout,
            int64_t capacity, uint64_t* words, int64_t* count) noexcept {
    return with_team(function, op, handle, bits, timeout, words, "words",
                     [&](const Team& team, const TeamOptions& options, uint64_t&) {
                         hand_out((team.*method)(value, options).words(), capacity, words, count);
                     });
}

template <class T>
int putget_value(const char* function, hocket_team* handle, T value, int source, int bits,
                 double timeout, T* result) noexcept {
    return with_team(function, team::Op::putget, handle, bits, timeout, result, "result",
                     [&](const Team& team, const TeamOptions& options, T& found) {
                         found = team.putget(value, source, options);
                     });
}

template <class T>
int gather_values(const char* function, hocket_team* handle, T value, int bits, double timeout,
                  int64_t places, T* values) noexcept {
    return with_team(function, team::Op::gather, handle, bits, timeout, values, "values",
                     [&](const Team& team, const TeamOptions& options, T&) {
                         const auto count = static_cast<std::size_t>(places < 0 ? 0 : places);
                         team.gather(value, std::span<T>(values, count), options);
                     });
}

template <class T>
int bcast_value(const char* function, hocket_team* handle, int bits, double timeout,
                T* result) noexcept {
    return with_team(function, team::Op::bcast, handle, bits, timeout, result, "result",
                     [](const Team& team, const TeamOptions& options, T& found) {
                         found = team.bcast_get<T>(options);
                     });
}

}  // namespace hocket::c
