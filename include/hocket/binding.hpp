// SPDX-License-Identifier: BSD-3-Clause
// For those who bind hocket to another language; programs in C++ need nothing of this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hocket/comm.hpp"
#include "hocket/operation.hpp"

namespace hocket {

class Channel;
class Mask;
class Tasks;
class Team;
struct Profile;
struct TeamOptions;
namespace team {
enum class Op : std::uint8_t;
enum class Type : std::uint8_t;
struct Call;
}  // namespace team

/// Friend of the classes whose calls a binding makes in its own way.
struct Binding {
    /// Takes part in a collective call that this process cannot make, because its arguments are
    /// wrong before there is an array to name: every process of the call raises the error instead
    /// of moving anything. `kind` is the error's class: "LayoutError", "MismatchError", "Error".
    static void refuse(const Comm& comm, const std::string& kind, const std::string& message,
                       Deadline deadline = {});
    /// The same of a verb of tasks, by its name ("send", "recv_init", …; "collective": any of
    /// bcast, reduce, allreduce, gather and barrier), in all of the calling task.
    /// @throws Error here only, for a name that is no verb.
    static void refuse(Tasks& tasks, const std::string& verb, const std::string& kind,
                       const std::string& message, Deadline deadline = {});
    static void refuse(Channel& channel, bool sending, const std::string& kind,
                       const std::string& message, Deadline deadline = {});
    /// @throws Error here with this message; elsewhere with one that names this process.
    [[noreturn]] static void refuse(const Team& team, team::Op op, const std::string& message);

    /// Operations of a team whose types are not known when the binding is compiled.
    static std::uint64_t run(const Team& team, const team::Call& call, const TeamOptions& options);
    static Mask run_mask(const Team& team, const team::Call& call, const TeamOptions& options);
    static void run_gather(const Team& team, team::Type type, std::uint64_t bits, void* values,
                           std::size_t places, const TeamOptions& options);

    /// The binding's own part of a transfer's six steps.
    static void add_to_profile(Tasks& tasks, const Profile& more);

    /// The lock of an interpreter under which some operations run (Python's). Whoever holds it and
    /// would wait lets go of it meanwhile: what is waited for may be a thread that polls one of
    /// them. `let_go` gives what `take_back` takes, or nullptr where this thread does not hold the
    /// lock. nullptr twice: there is none.
    static void set_interpreter_lock(void* (*let_go)(), void (*take_back)(void* held));
};

}  // namespace hocket
