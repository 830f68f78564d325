// SPDX-License-Identifier: BSD-3-Clause
// The signature of a call on a team. Processes compare signatures, and name the ones that differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "hocket/team.hpp"

namespace hocket::team {

/// The parts of a call that must agree on all processes; one word of a payload.
struct Header {
    Op op = Op::wait;
    Type type = Type::boolean;
    int narrow = 0;
    std::size_t bytes = 0;  // of a value
    bool refused = false;   // the arguments are wrong: this process has raised an error
    std::uint32_t group = 0;

    std::uint64_t packed() const {
        return static_cast<std::uint64_t>(op) | static_cast<std::uint64_t>(type) << 8U |
               static_cast<std::uint64_t>(narrow) << 12U |
               static_cast<std::uint64_t>(bytes) << 20U |
               static_cast<std::uint64_t>(refused) << 30U |
               static_cast<std::uint64_t>(group) << 32U;
    }
    static Header unpacked(std::uint64_t word);
    std::string text() const;  ///< "reduce_add of float64"
};

/// Two processes whose calls differ, the lower one first.
struct Mismatch {
    std::uint64_t low_process = 0, low = 0, high_process = 0, high = 0;

    /// Their groups differ too, so that processes may wait for calls that never come.
    bool groups_differ() const { return low >> 32U != high >> 32U; }
    std::string text() const;
};

}  // namespace hocket::team
