// SPDX-License-Identifier: BSD-3-Clause
// Common to the C functions of teams.
#pragma once

#include <algorithm>
#include <span>
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

/// The number of words of a mask of all processes.
inline int words_of(hocket_team* team) {
    return (behind(team)->value.size() + 63) / 64;
}
/// The caller's memory for a mask: all words that the processes of the root team need.
/// @throws ArgumentError, before the operation, for NULL and for too few words.
inline std::span<std::uint64_t> mask_of(hocket_team* team, int64_t capacity, uint64_t* words) {
    require(words, "words");
    const int needed = words_of(team);
    if (capacity < needed)
        throw ArgumentError("'words' has room for " + std::to_string(capacity) +
                            " words, but the masks of this team have " + std::to_string(needed) +
                            "; give memory for as many");
    return {words, static_cast<std::size_t>(needed)};
}
/// Writes all of these words, so that a program may test the bit of any process.
inline void write_mask(const Mask& mask, std::span<std::uint64_t> place, int64_t* count) {
    const auto words = mask.words();
    std::fill(std::copy(words.begin(), words.end(), place.begin()), place.end(), 0);
    if (count != nullptr) *count = static_cast<int64_t>(place.size());
}

/// Operations whose result is a mask.
template <class Call>
int to_mask(const char* function, team::Op op, hocket_team* handle, double timeout,
            int64_t capacity, uint64_t* words, int64_t* count, Call call) noexcept {
    return with_team(
        function, op, handle, timeout,
        [&](TeamOptions&) { return mask_of(handle, capacity, words); },
        [&](const Team& team, std::span<std::uint64_t> place, const TeamOptions& options) {
            write_mask(call(team, options), place, count);
        });
}

/// The type of `enum hocket_team_type`, possibly with a number of bits, which goes to the options.
/// @throws ArgumentError for an unknown type.
team::Type type_of(int type, TeamOptions& options);

}  // namespace hocket::c
