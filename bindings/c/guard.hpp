// SPDX-License-Identifier: BSD-3-Clause
// Conventions of the C functions: `guard` runs a body and turns its exception into a code. Also the
// checks that only pointers need.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/hocket.h"
#include "hocket/operation.hpp"

namespace hocket::c {

using hocket::ArgumentError;

/// The name of its class in messages between processes.
inline constexpr const char* argument_error = "ArgumentError";

/// The caller's interrupt check has ended a wait.
class Interrupted : public Error {
  public:
    using Error::Error;
};

/// The name of a function in messages: Fortran's procedures are called without "_fortran".
std::string called(const char* function);

/// The code of the current exception, whose message hocket_error_message() returns from now on.
/// Messages of wrong arguments begin with `function`.
int failure(const char* function) noexcept;

/// The name of the C++ class for a code; nullptr for a code of no error.
const char* class_of(int code);

/// Runs the body of a C function. No exception leaves it.
template <class Body>
int guard(const char* function, Body&& body) noexcept {
    try {
        body();
        return HOCKET_SUCCESS;
    } catch (...) {
        return failure(function);
    }
}

/// @throws ArgumentError for NULL.
template <class T>
T& required(T* pointer, const char* name) {
    if (pointer == nullptr)
        throw ArgumentError(std::string("'") + name + "' is NULL; give the address of a variable");
    return *pointer;
}

/// For memory of any type. @throws ArgumentError for NULL.
void require(const void* pointer, const char* name);

/// @throws ArgumentError for NULL.
std::string text_of(const char* text, const char* name);

/// Bytes of memory of this machine.
std::int64_t machine_bytes();
/// The most entries of a list that may be as long as an array.
template <class T>
std::int64_t most_in_memory() {
    return machine_bytes() / static_cast<std::int64_t>(sizeof(T));
}

/// @throws ArgumentError for a negative count, one above `most` (an uninitialised variable), and
///         NULL for a list with entries.
template <class T>
std::span<const T> list(std::int64_t count, const T* values, const char* name,
                        std::int64_t most = INT32_MAX) {
    if (count < 0 || count > most)
        throw ArgumentError(std::string("'") + name + "' has " + std::to_string(count) +
                            " entries; give 0 to " + std::to_string(most));
    if (count > 0 && values == nullptr)
        throw ArgumentError(std::string("'") + name + "' is NULL, but has " +
                            std::to_string(count) + " entries; give their address");
    return {values, values == nullptr ? 0 : static_cast<std::size_t>(count)};
}

/// A list with one entry a dimension; an array has at most 64, as in NumPy.
template <class T>
std::span<const T> by_dimension(std::int64_t dimensions, const T* values, const char* name) {
    return list(dimensions, values, name, 64);
}

/// Implements the rule for lists of results in hocket.h.
template <class Values, class T>
void write_list(const Values& found, std::int64_t capacity, T* values, std::int64_t* count) {
    const auto size = static_cast<std::int64_t>(found.size());
    if (values != nullptr && capacity < size)
        throw ArgumentError("there is room for " + std::to_string(capacity) +
                            " values at 'values', but there are " + std::to_string(size) +
                            "; ask for their count first, with values = NULL");
    if (values != nullptr) std::copy(found.begin(), found.end(), values);
    if (count != nullptr) *count = size;
}

Deadline deadline_of(double timeout);

/// Reads this process's arguments of a collective call. For wrong arguments it calls `refuse` with
/// the message, which makes the call fail on all processes.
template <class Arguments, class Refuse>
auto arguments_of(const char* function, Arguments arguments, Refuse refuse) {
    try {
        return arguments();
    } catch (const ArgumentError& error) {
        refuse(called(function) + ": " + error.what());
        throw;
    }
}

}  // namespace hocket::c
